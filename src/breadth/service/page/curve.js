// Relevance against redundancy: the best sets for all θ, and where the chosen set, MMR and top-k are.

import { at, colour } from "./elements.js";

const HEIGHT = 260;
const KINDS = ["curve", "chosen", "mmr", "top"];
let plot = null;
let points = [];

export function showCurve(curve, sets) {
  points = [
    ...(curve ? curve.points.map((one) => ({ kind: "curve", ...one })) : []),
    ...["chosen", "mmr", "top"].map((kind) => ({ kind, ...sets[kind] })),
  ].sort((a, b) => a.redundancy - b.redundancy || a.relevance - b.relevance);
  at("curve-words").textContent = describe(curve, sets);
  if (plot) plot.setData(columns());
  else draw();
}

export function resizeCurve() {
  if (plot) plot.setSize({ width: at("curve").clientWidth, height: HEIGHT });
}

export const paintCurve = () => plot?.redraw(false);

function columns() {
  return [points.map((one) => one.redundancy),
    ...KINDS.map((kind) => points.map((one) => (one.kind === kind ? one.relevance : null)))];
}

function draw() {
  const axis = { stroke: () => colour("quiet"), grid: { stroke: () => colour("edge"), width: 1 }, ticks: { show: false } };
  const dot = (kind, size, fill) => ({
    label: kind, paths: () => null,
    points: { show: true, size, width: 2, stroke: () => colour(kind), fill: () => colour(fill) },
  });
  const padded = (_, least, most) => {
    const room = Math.max(0.08 * (most - least), 0.005);
    return [least - room, most + room];
  };
  plot = new uPlot({
    width: at("curve").clientWidth, height: HEIGHT, legend: { show: false },
    cursor: { drag: { x: false, y: false }, points: { show: false } },
    scales: { x: { time: false, range: padded }, y: { range: padded } },
    axes: [{ ...axis, label: "redundancy", labelSize: 18, size: 34 }, { ...axis, label: "relevance", labelSize: 18, size: 52 }],
    series: [{},
      { label: "best sets", stroke: () => colour("chosen"), width: 2, spanGaps: true, points: { show: true, size: 4, stroke: () => colour("chosen"), fill: () => colour("chosen") } },
      dot("chosen", 13, "chosen"), dot("mmr", 9, "mmr"), dot("top", 9, "ground")],
  }, columns(), at("curve"));
}

function describe(curve, sets) {
  const place = (set) => `redundancy ${set.redundancy.toFixed(3)}, relevance ${set.relevance.toFixed(3)}`;
  const knee = curve ? ` The curve bends at θ = ${curve.knee}.` : "";
  return `Chosen: ${place(sets.chosen)}. MMR: ${place(sets.mmr)}. Top-k: ${place(sets.top)}.${knee}`;
}
