// The cosines of all pairs of a set, as a square of shades.

import { at, colour } from "./elements.js";

let shown = null;

export function showMatrices(answer) {
  shown = {};
  const places = new Map(answer.passages.map((one, place) => [one.id, place]));
  for (const name of ["top", "chosen"]) {
    const ids = answer.sets[name].ids;
    const cosines = ids.map((one) => ids.map((other) => answer.cosines[places.get(one)][places.get(other)]));
    shown[name] = { ids, cosines };
    const words = describe(ids, cosines);
    at(`${name}-pairs`).textContent = `${name === "top" ? "top-k" : "chosen"}: ${words}`;
    at(`${name}-matrix`).setAttribute("aria-label", words);
  }
  paintMatrices();
}

export function paintMatrices() {
  if (!shown) return;
  const ink = ["copy", "ground"].map((name) => readColour(colour(name)));
  for (const [name, { cosines }] of Object.entries(shown)) {
    const canvas = at(`${name}-matrix`);
    const size = (canvas.width = canvas.height = Math.max(1, cosines.length));
    const context = canvas.getContext("2d");
    const image = context.createImageData(size, size);
    cosines.forEach((row, i) => row.forEach((cosine, j) => {
      const weight = i === j ? 0.12 : Math.min(1, Math.max(0, cosine)) ** 2;
      const mixed = ink[0].map((channel, c) => weight * channel + (1 - weight) * ink[1][c]);
      image.data.set([...mixed, 255], 4 * (i * size + j));
    }));
    context.putImageData(image, 0, 0);
  }
}

export function watchMatrices() {
  for (const name of ["top", "chosen"]) {
    const canvas = at(`${name}-matrix`);
    canvas.addEventListener("pointermove", (event) => {
      const { ids, cosines } = shown[name];
      const [i, j] = [event.offsetY, event.offsetX].map((offset) =>
        Math.min(ids.length - 1, Math.max(0, Math.floor((offset / canvas.clientWidth) * ids.length))));
      at("pair").textContent = `${ids[i]} and ${ids[j]}: cosine ${cosines[i][j].toFixed(3)}`;
    });
    canvas.addEventListener("pointerleave", () => { at("pair").textContent = ""; });
  }
}

function describe(ids, cosines) {
  const pairs = cosines.flatMap((row, i) => row.slice(0, i));
  if (!pairs.length) return "no pairs";
  const mean = pairs.reduce((sum, cosine) => sum + cosine, 0) / pairs.length;
  return `mean cosine ${mean.toFixed(2)}, largest ${Math.max(...pairs).toFixed(2)}`;
}

function readColour(text) {
  const digits = text.slice(1);
  const parts = digits.length === 3 ? [...digits].map((digit) => digit + digit) : digits.match(/../g);
  return parts.map((part) => parseInt(part, 16));
}
