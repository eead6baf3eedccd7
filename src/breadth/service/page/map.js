// The candidates on a plane. Those that fall on one another are spread a little, so that a clump looks like one.

import { at, shape } from "./elements.js";

const WIDTH = 480, HEIGHT = 320, MARGIN = 18;
const NEAR = 3, STEP = 3.4, TURN = 2.399963, RING = 12;
const SPAN = 0.7; // The map is at least so wide: a cosine of 0.95 is a distance of 0.3. So copies alone stay together.
let spots = new Map(), place = null, links = null, added = null, labels = null;

export function drawMap(candidates, pointed) {
  place = fit(candidates);
  spots = new Map();
  links = shape("g", {});
  added = shape("g", {});
  labels = shape("g", {});
  const dots = shape("g", {});
  for (const [one, [x, y]] of spread(candidates.map((one) => [one, place(one)]))) {
    const dot = shape("circle", { r: 3 });
    spots.set(one.id, { dot, home: [x, y], passage: one });
    put(one.id, x, y);
    dots.prepend(dot); // the most relevant ones are drawn last
    dot.addEventListener("pointerover", () => pointed(one.id));
    dot.addEventListener("pointerleave", () => pointed(null));
  }
  at("map").replaceChildren(links, dots, added, labels);
}

// Classes say what became of each candidate, links to which chosen passage a copy belongs.
export function markMap(answer, originals) {
  const { chosen, top } = answer.sets;
  for (const [id, { dot }] of spots) {
    const kinds = [originals.has(id) && "copy", top.ids.includes(id) && "top", chosen.ids.includes(id) && "chosen"];
    dot.setAttribute("class", kinds.filter(Boolean).join(" "));
    dot.setAttribute("r", kinds[2] ? 8 : kinds[1] ? 4.5 : kinds[0] ? 3.5 : 3);
    put(id, ...spots.get(id).home);
  }
  const outside = answer.passages.filter((one) => chosen.ids.includes(one.id) && !spots.has(one.id));
  added.replaceChildren(...outside.map((one) => {
    const [x, y] = place(one);
    return shape("circle", { cx: x, cy: y, r: 8, class: "chosen" });
  }));
  const where = (id) => spots.get(id) ?? locate(outside.find((one) => one.id === id));
  chosen.ids.forEach((id, number) => surround(where(id), chosen.copies[number].map((copy) => copy.id).filter((copy) => spots.has(copy))));
  links.replaceChildren(...[...originals].filter(([copy]) => spots.has(copy)).map(([copy, { member }]) => {
    const [from, to] = [where(copy), where(member)];
    return shape("line", { x1: from.x, y1: from.y, x2: to.x, y2: to.y });
  }));
  labels.replaceChildren(...chosen.ids.map((id, number) => {
    const { x, y } = where(id);
    const label = shape("text", { x, y });
    label.textContent = number + 1;
    return label;
  }));
  // What is chosen lies on top.
  for (const id of [...top.ids, ...chosen.ids]) spots.get(id)?.dot.parentNode.append(spots.get(id).dot);
}

export function pointAt(id) {
  for (const [other, { dot }] of spots) dot.classList.toggle("same", other === id);
  return spots.get(id)?.passage;
}

// Copies that a chosen passage would hide are put round it.
function surround({ x, y }, copies) {
  copies.filter((copy) => Math.hypot(spots.get(copy).x - x, spots.get(copy).y - y) < RING).forEach((copy, number) => {
    const radius = RING + 0.5 * STEP * Math.sqrt(number);
    put(copy, x + radius * Math.cos(TURN * number), y + radius * Math.sin(TURN * number));
  });
}

function put(id, x, y) {
  const spot = spots.get(id);
  if (spot.x === x && spot.y === y) return;
  Object.assign(spot, { x, y });
  spot.dot.setAttribute("cx", x.toFixed(1));
  spot.dot.setAttribute("cy", y.toFixed(1));
}

function locate(passage) {
  const [x, y] = place(passage);
  return { x, y };
}

// The same scale in both directions: distances on the map can be compared.
function fit(candidates) {
  const [xs, ys] = [candidates.map((one) => one.x), candidates.map((one) => one.y)];
  const [left, right, low, high] = [Math.min(...xs), Math.max(...xs), Math.min(...ys), Math.max(...ys)];
  const scale = Math.min((WIDTH - 2 * MARGIN) / Math.max(right - left, SPAN), (HEIGHT - 2 * MARGIN) / Math.max(high - low, SPAN));
  const [x0, y0] = [(left + right) / 2, (low + high) / 2];
  const inside = (value, most) => Math.min(most - MARGIN, Math.max(MARGIN, value));
  return ({ x, y }) => [inside(WIDTH / 2 + scale * (x - x0), WIDTH), inside(HEIGHT / 2 - scale * (y - y0), HEIGHT)];
}

function spread(placed) {
  const clumps = [];
  return placed.map(([one, [x, y]]) => {
    const clump = clumps.find((other) => Math.hypot(other.x - x, other.y - y) < NEAR);
    if (!clump) {
      clumps.push({ x, y, size: 1 });
      return [one, [x, y]];
    }
    const radius = STEP * (1 + Math.sqrt(clump.size)), angle = TURN * clump.size++;
    return [one, [clump.x + radius * Math.cos(angle), clump.y + radius * Math.sin(angle)]];
  });
}
