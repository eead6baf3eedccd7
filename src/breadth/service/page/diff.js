// Two passages beside each other: what the one has and the other has not is marked.

import { compare } from "./asking.js";
import { at, element } from "./elements.js";

const RELATIONS = {
  same: "The same words",
  contained: "One contains the other",
  differs: "What differs",
};

// `failed` is called with a message if the service does not answer.
export async function showDifference(left, right, failed) {
  try {
    const found = await compare(left, right);
    at("diff-title").textContent = RELATIONS[found.relation] ?? found.relation;
    fill("left", found.left, found.changes.map((change) => change.here_span));
    fill("right", found.right, found.changes.map((change) => change.there_span));
    at("diff").showModal();
  } catch (error) {
    failed(error.message);
  }
}

// Spans count the characters of the text; JavaScript counts those beyond the first 65,536 twice.
function fill(side, passage, spans) {
  at(`diff-${side}-name`).textContent = passage.id;
  const characters = [...passage.text], parts = [];
  let end = 0;
  for (const [first, last] of spans) {
    parts.push(characters.slice(end, first).join(""));
    if (last > first) parts.push(element("mark", characters.slice(first, last).join("")));
    end = Math.max(end, last);
  }
  at(`diff-${side}`).replaceChildren(...parts, characters.slice(end).join(""));
}
