// The two lists: what top-k has, what was chosen, and what became of each passage.

import { at, element } from "./elements.js";

const LISTED = 4;
let point = () => {};

// `pointed` is called with the id of the passage that is looked at, null if there is none.
export function watchLists(pointed) {
  point = pointed;
  for (const list of [at("top"), at("chosen")]) {
    list.addEventListener("keydown", (event) => step(list, event));
    list.addEventListener("click", (event) => open(event.target.closest("li")));
    for (const kind of ["focusin", "pointerover"]) {
      list.addEventListener(kind, (event) => point(event.target.closest("li")?.dataset.id ?? null));
    }
    for (const kind of ["focusout", "pointerleave"]) list.addEventListener(kind, () => point(null));
  }
}

function step(list, event) {
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
    if (originals.has(id)) return [`dropped: a copy of ${originals.get(id)}`, "out"];
    const [cosine, other] = likest(id);
    return [`dropped: most like ${other} (cosine ${cosine.toFixed(2)})`, "out"];
  });
  fill(at("chosen"), chosen, passages, (id) => {
    if (top.ids.includes(id)) return ["", "kept"];
    const { rank } = passages.get(id);
    return [rank ? `came in: number ${rank} by relevance` : "came in from further down", "new"];
  });
  return originals;
}

// The chosen passage that each copy belongs to.
export function findOriginals(chosen) {
  return new Map(chosen.ids.flatMap((id, place) => chosen.copies[place].map((copy) => [copy, id])));
}

function fill(list, set, passages, judge) {
  const focused = list.contains(document.activeElement) ? document.activeElement.dataset.id : null;
  const opened = new Set([...list.querySelectorAll("li.open")].map((item) => item.dataset.id));
  const items = set.ids.map((id, place) => {
    const item = element("li");
    item.dataset.id = id;
    item.tabIndex = place ? -1 : 0;
    item.classList.toggle("open", opened.has(id));
    const [mark, kind] = judge(id);
    item.classList.toggle("gone", kind === "out");
    const head = element("div", "", "head");
    head.append(element("span", set.scores[place].toFixed(3), "score"), element("strong", id));
    if (mark) head.append(element("span", mark, `mark ${kind}`));
    item.append(head, element("p", passages.get(id).text, "text"));
    const copies = set.copies[place];
    if (copies.length && list.id === "chosen") item.append(element("p", describeCopies(copies), "copies quiet"));
    return item;
  });
  list.replaceChildren(...items);
  const again = items.find((item) => item.dataset.id === focused) ?? items[0];
  if (focused && again) reach(items, again);
}

function describeCopies(copies) {
  const more = copies.length > LISTED ? `, and ${copies.length - LISTED} more` : "";
  const what = copies.length === 1 ? "a copy" : `${copies.length} copies`;
  return `stands for ${what}: ${copies.slice(0, LISTED).join(", ")}${more}`;
}
