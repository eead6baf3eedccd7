// Coverage as two bars.

import { at } from "./elements.js";

export function showBars(sets) {
  for (const name of ["top", "chosen"]) {
    const share = `${(100 * sets[name].coverage).toFixed(1)} %`;
    at(`${name}-bar`).style.width = share.replace(" ", "");
    at(`${name}-coverage`).textContent = share;
  }
}
