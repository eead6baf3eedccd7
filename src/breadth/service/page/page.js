"use strict";
// Texts come from documents, so they are only ever set with textContent.

const at = (id) => document.getElementById(id);
let latest = 0;

async function select(body) {
  const headers = { "Content-Type": "application/json" };
  if (at("token").value) headers.Authorization = `Bearer ${at("token").value}`;
  let answer;
  try {
    answer = await fetch("v1/select", { method: "POST", headers, body: JSON.stringify(body) });
  } catch {
    throw new Error("The service does not answer. Is it still running?");
  }
  const data = await answer.json().catch(() => ({}));
  if (answer.status === 401) at("token-field").hidden = false;
  if (!answer.ok) throw new Error(data.error?.message ?? `The service answers with status ${answer.status}.`);
  return data;
}

function element(kind, text, name) {
  const made = document.createElement(kind);
  made.textContent = text;
  if (name) made.className = name;
  return made;
}

function show(list, hits, marks) {
  list.replaceChildren(...hits.map((hit) => {
    const item = document.createElement("li");
    item.append(element("strong", hit.id), " ", element("span", hit.score.toFixed(3), "score"));
    const [mark, name] = marks(hit);
    if (mark) item.append(" ", element("em", mark, name));
    item.append(element("p", hit.text ?? ""));
    return item;
  }));
}

function worth(set) {
  return `relevance ${set.relevance.toFixed(3)}, redundancy ${set.redundancy.toFixed(3)}`;
}

function compare(plain, chosen) {
  const kept = new Set(chosen.hits.map((hit) => hit.id));
  const before = new Set(plain.hits.map((hit) => hit.id));
  const original = new Map(chosen.hits.flatMap((hit) => hit.copies.map((copy) => [copy, hit.id])));
  show(at("plain"), plain.hits, (hit) => {
    if (kept.has(hit.id)) return ["", ""];
    return [original.has(hit.id) ? `dropped: a copy of ${original.get(hit.id)}` : "dropped", "out"];
  });
  show(at("chosen"), chosen.hits, (hit) => {
    const copies = hit.copies.length ? `stands for ${hit.copies.join(", ")}` : "";
    return [[before.has(hit.id) ? "" : "new", copies].filter(Boolean).join("; "), "new"];
  });
  at("plain-worth").textContent = worth(plain);
  at("chosen-worth").textContent = `${worth(chosen)}. ${chosen.proof}`;
}

function clear(message) {
  for (const id of ["plain", "chosen"]) at(id).replaceChildren();
  for (const id of ["plain-worth", "chosen-worth"]) at(id).textContent = "";
  at("message").textContent = message;
}

async function search() {
  const turn = ++latest;
  at("theta-shown").textContent = at("theta").value;
  at("distinct-shown").textContent = at("distinct").value;
  const query = at("query").value.trim();
  if (!query) return clear("Type a query.");
  const body = { query, k: at("k").valueAsNumber };
  const wanted = { ...body, theta: at("theta").valueAsNumber, distinct: at("distinct").valueAsNumber };
  try {
    // Redundancy is measured with the same sharpness on both sides: theta 1 is plain top-k.
    const [plain, chosen] = await Promise.all([select({ ...body, theta: 1 }), select(wanted)]);
    if (turn !== latest) return; // a later question has been asked meanwhile
    compare(plain, chosen);
    at("message").textContent = chosen.hits.length ? "" : "No passage fits.";
  } catch (error) {
    if (turn === latest) clear(error.message);
  }
}

at("ask").addEventListener("submit", (event) => { event.preventDefault(); search(); });
for (const id of ["theta", "distinct", "k"]) at(id).addEventListener("input", search);
search();
