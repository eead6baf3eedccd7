// The two lists: what top-k has, what was chosen, and what became of each passage.

import { at, element } from "./elements.js";
import { renderText } from "./markdown.js";

const LISTED = 4, CHIPS = 5, CUT = 80;
const RELATIONS = {
  same: "verbatim", contained: "contained in it", "says the same": "in other words", "close vectors": "close vectors",
};
let point = () => {}, compare = () => {};

// `pointed` is called with the id of the passage that is looked at, null if there is none; `compared` with two ids.
export function watchLists(pointed, compared) {
  [point, compare] = [pointed, compared];
  for (const list of [at("top"), at("chosen")]) {
    list.addEventListener("keydown", (event) => step(list, event));
    list.addEventListener("click", (event) => {
      const { left, right } = event.target.closest("button")?.dataset ?? {};
      if (left) compare(left, right);
      else open(event.target.closest("li"));
    });
    for (const kind of ["focusin", "pointerover"]) {
      list.addEventListener(kind, (event) => point(event.target.closest("li")?.dataset.id ?? null));
    }
    for (const kind of ["focusout", "pointerleave"]) list.addEventListener(kind, () => point(null));
  }
}

function step(list, event) {
  if (event.target.matches("button")) return;
  const items = [...list.children];
  const place = items.indexOf(document.activeElement);
  const next = { ArrowDown: place + 1, ArrowUp: place - 1, Home: 0, End: items.length - 1 }[event.key];
  if (event.key === "Enter") open(items[place]);
  else if (next === undefined || !items[next]) return;
  else reach(items, items[next]);
  event.preventDefault();
}

// One item of a list is reached with Tab; the arrows go on from there.
function reach(items, item) {
  for (const one of items) one.tabIndex = -1;
  item.tabIndex = 0;
  item.focus();
}

function open(item) {
  item?.classList.toggle("open");
  if (item) settle(item);
}

// Tab reaches the copies and variants of a passage once it is open.
function settle(item) {
  for (const button of item.querySelectorAll("button")) button.tabIndex = item.classList.contains("open") ? 0 : -1;
}

export function showLists(answer) {
  const { chosen, top } = answer.sets;
  const passages = new Map(answer.passages.map((one, place) => [one.id, { ...one, place }]));
  const originals = findOriginals(chosen);
  const likest = (id) => {
    const row = answer.cosines[passages.get(id).place];
    return chosen.ids.map((other) => [row[passages.get(other).place], other]).sort((a, b) => b[0] - a[0])[0];
  };
  fill(at("top"), top, passages, (id) => {
    if (chosen.ids.includes(id)) return ["kept", "kept"];
    if (originals.has(id)) {
      const { member, relation } = originals.get(id);
      return [`dropped: a copy of ${member}, ${RELATIONS[relation]}`, "out", [[member, "compare"]]];
    }
    const [cosine, other] = likest(id);
    return [`given up: most like ${other} (cosine ${cosine.toFixed(2)})`, "out", [[other, "compare"]]];
  });
  fill(at("chosen"), chosen, passages, (id) => {
    const place = chosen.ids.indexOf(id);
    const near = [...describeCopies(chosen.copies[place]), ...describeVariants(chosen.variants[place])];
    if (top.ids.includes(id)) return ["", "kept", near];
    const { rank } = passages.get(id);
    return [rank ? `came in: number ${rank} by relevance` : "came in from further down", "new", near];
  });
  return originals;
}

// The chosen passage that each copy belongs to, and how it says all of it.
export function findOriginals(chosen) {
  return new Map(chosen.ids.flatMap((member, place) => chosen.copies[place].map(({ id, relation }) => [id, { member, relation }])));
}

function fill(list, set, passages, judge) {
  const focused = list.contains(document.activeElement) ? document.activeElement.dataset.id : null;
  const opened = new Set([...list.querySelectorAll("li.open")].map((item) => item.dataset.id));
  const items = set.ids.map((id, place) => {
    const item = element("li");
    item.dataset.id = id;
    item.tabIndex = place ? -1 : 0;
    item.classList.toggle("open", opened.has(id));
    const [mark, kind, near = []] = judge(id);
    item.classList.toggle("gone", kind === "out");
    const head = element("div", "", "head");
    head.append(element("span", set.scores[place].toFixed(3), "score"), element("strong", id));
    if (mark) head.append(element("span", mark, `mark ${kind}`));
    const text = element("p", "", "text");
    text.append(renderText(passages.get(id).text));
    item.append(head, makeChips(passages.get(id).metadata), text);
    if (near.length) item.append(makeNear(id, near));
    settle(item);
    return item;
  });
  list.replaceChildren(...items);
  const again = items.find((item) => item.dataset.id === focused) ?? items[0];
  if (focused && again) reach(items, again);
}

function makeChips(metadata) {
  const chips = element("p", "", "chips");
  for (const [name, value] of Object.entries(metadata ?? {}).slice(0, CHIPS)) {
    const shown = typeof value === "object" ? JSON.stringify(value) : String(value);
    chips.append(element("span", `${name}: ${cut(shown, CUT / 2)}`));
  }
  return chips;
}

// Buttons that show two passages beside each other.
function makeNear(left, near) {
  const line = element("p", "", "near");
  for (const [right, words] of near) {
    const button = element("button", words === "compare" ? `what differs from ${right}` : words);
    [button.type, button.dataset.left, button.dataset.right] = ["button", left, right];
    line.append(button);
  }
  return line;
}

const describeCopies = (copies) => [
  ...copies.slice(0, LISTED).map(({ id, relation }) => [id, `says all of ${id}, ${RELATIONS[relation]}`]),
  ...(copies.length > LISTED ? [[copies[LISTED].id, `and of ${copies.length - LISTED} more`]] : []),
];

const describeVariants = (variants) => variants.slice(0, LISTED).map(({ id, chosen, differences }) => {
  const [first] = differences;
  const what = first ? `${cut(first.here, CUT) || "(nothing)"} → ${cut(first.there, CUT) || "(nothing)"}` : "its words";
  return [id, `differs from ${id}${chosen ? "" : ", which is not in the set"}: ${what}`];
});

const cut = (text, most) => (text.length > most ? `${text.slice(0, most)}…` : text);
