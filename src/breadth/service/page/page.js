// The page: what is asked when, and who shows the answer.

import { readAddress, writeAddress } from "./address.js";
import { describeCollection, inspect } from "./asking.js";
import { showBars } from "./bars.js";
import { paintCurve, resizeCurve, showCurve } from "./curve.js";
import { showDifference } from "./diff.js";
import { at, element } from "./elements.js";
import { findOriginals, showLists, watchLists } from "./lists.js";
import { drawMap, markMap, pointAt } from "./map.js";
import { paintMatrices, showMatrices, watchMatrices } from "./matrices.js";
import * as words from "./words.js";

// While a slider moves, the service gets 12 ms, and only the most relevant passages to choose from where the whole takes
// longer. The full answer follows as soon as the slider rests.
const HASTE = 0.012, POOL = 128, SLOW = 0.025, FIRST = 0.5, REST = 200;

let query = "";            // the query whose candidates are shown
let curve = null;          // the curve of `curveOf`
let curveOf = "";
let shown = null;          // the answer that is shown
let hard = false;          // whether this query takes long
let turn = 0;              // the number of the last question
let searches = 0;          // how many queries were asked
let busy = false, moved = null, rest = 0;

const settings = () => ({ k: at("k").valueAsNumber, theta: at("theta").valueAsNumber, distinct: at("distinct").valueAsNumber });

// A new query: sets and candidates, then the curve.
async function search() {
  const asked = at("query").value.trim();
  clearTimeout(rest);
  turn += 1;
  searches += 1;
  moved = null;
  if (!asked) return reject("Type a query, then press Enter.", true);
  if (!isWhole(at("k"))) return reject("Passages must be a whole number from 1 to 100.");
  const [mine, since, told] = [turn, performance.now(), settings()];
  at("results").ariaBusy = "true";
  writeAddress(asked, true);
  try {
    const answer = await inspect({ query: asked, ...told, time_limit: FIRST, parts: ["sets", "candidates"] });
    if (mine !== turn) return;
    [query, curve, curveOf, hard] = [asked, null, "", isHard(answer)];
    at("results").hidden = false;
    at("results").dataset.query = query;
    drawMap(answer.candidates, point);
    at("map-words").textContent = `The ${answer.candidates.length} most relevant of ${answer.searched} passages. ` +
      `The plane shows ${Math.round(100 * answer.shown)} % of their variance. Numbers are those of the chosen set.`;
    show(answer);
    say("");
    tell(answer, since);
    if (JSON.stringify(told) === JSON.stringify(settings())) await finish(mine, answer, since);
    else await move(); // a slider was moved meanwhile
  } catch (error) {
    if (mine === turn) reject(error.message);
  }
}

// Another setting for the same query. There is one question at a time; the newest setting is asked next.
async function move(event) {
  label();
  if (!query || at("query").value.trim() !== query) return;
  clearTimeout(rest);
  moved = event?.timeStamp ?? performance.now();
  turn += 1;
  if (busy) return;
  busy = true;
  while (moved !== null) {
    const [mine, since] = [turn, moved];
    moved = null;
    if (isWhole(at("k"))) await answerMove(mine, since);
    else reject("Passages must be a whole number from 1 to 100.");
  }
  busy = false;
}

async function answerMove(mine, since) {
  const search = searches;
  at("results").ariaBusy = "true";
  try {
    const haste = hard ? { time_limit: HASTE, pool: POOL } : { time_limit: HASTE };
    const answer = await inspect({ query, ...settings(), ...haste, parts: ["sets"] });
    if (search !== searches) return; // another query was asked meanwhile
    if (isFinal(answer) || isHard(answer)) hard = isHard(answer);
    show(answer);
    say("");
    tell(answer, since);
    if (mine === turn) rest = setTimeout(() => finish(mine, answer, since), REST);
  } catch (error) {
    if (search === searches) reject(error.message);
  }
}

// What a hasty answer left out: the full search, and the curve where it is another one.
async function finish(mine, answer, since) {
  try {
    if (!isFinal(answer)) {
      const full = await inspect({ query, ...settings(), parts: ["sets"] });
      if (mine !== turn) return;
      hard = isHard(full);
      show(full);
      tell(full, since);
    }
    const { k, distinct } = settings();
    const wanted = JSON.stringify([query, k, distinct]);
    if (wanted !== curveOf) {
      const answer = await inspect({ query, k, distinct, time_limit: 5, parts: ["curve"] });
      if (mine !== turn) return;
      [curve, curveOf] = [answer.curve, wanted];
      showCurve(curve, shown.sets);
    }
    if (mine === turn) {
      writeAddress(query, false);
      at("results").ariaBusy = "false";
    }
  } catch (error) {
    if (mine === turn) reject(error.message);
  }
}

// Say how long an answer took until it could be seen. `python -m benchmarks page` listens.
function tell(answer, since) {
  requestAnimationFrame(() => setTimeout(() => {
    const [milliseconds, final] = [performance.now() - since, isFinal(answer)];
    at("pace").textContent = `The last answer took ${Math.round(milliseconds)} ms.`;
    document.dispatchEvent(new CustomEvent("drawn", { detail: { milliseconds, final } }));
  }));
}

const isHard = ({ sets: { chosen } }) => chosen.seconds > SLOW || chosen.stopped === "time_limit";
const isFinal = (answer) => answer.sets.chosen.certificate !== null && answer.sets.chosen.stopped !== "time_limit";

function show(answer) {
  shown = answer;
  const { chosen, top } = answer.sets;
  const originals = showLists(answer);
  at("proof").textContent = words.proof(chosen);
  at("change").textContent = words.change(answer.sets, originals, answer.asked);
  at("worth").textContent = words.worth(chosen);
  at("top-worth").textContent = words.measures(top);
  at("chosen-worth").textContent = words.measures(chosen);
  showBars(answer.sets);
  showMatrices(answer);
  markMap(answer, originals);
  showCurve(curve, answer.sets);
}

function reject(message, empty = false) {
  say(message, !empty);
  at("results").ariaBusy = "false";
  at("results").classList.add("stale");
  if (empty) [at("results").hidden, query] = [true, ""];
}

function say(message, bad = false) {
  at("message").textContent = message;
  at("message").classList.toggle("bad", bad);
  at("results").classList.remove("stale");
}

function label() {
  at("theta-shown").textContent = at("theta").valueAsNumber.toFixed(2);
  at("distinct-shown").textContent = at("distinct").valueAsNumber.toFixed(2);
}

// The passage that is looked at, in a list or on the map, is marked everywhere.
function point(id) {
  for (const item of document.querySelectorAll("li[data-id]")) item.classList.toggle("same", item.dataset.id === id);
  const passage = pointAt(id);
  const original = id && shown && findOriginals(shown.sets.chosen).get(id);
  const copy = original ? ` A copy of ${original.member}.` : "";
  at("pointed").textContent = passage ? `${passage.id}, number ${passage.rank}, ${passage.score.toFixed(3)}.${copy} ${passage.text}` : "";
}

const isWhole = (field) => field.checkValidity() && Number.isInteger(field.valueAsNumber);

at("ask").addEventListener("submit", (event) => { event.preventDefault(); search(); });
for (const id of ["theta", "distinct", "k"]) at(id).addEventListener("input", move);
document.addEventListener("keydown", (event) => {
  if (event.key !== "/" || event.target.matches("input")) return;
  event.preventDefault();
  at("query").focus();
});
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => { paintMatrices(); paintCurve(); });
new ResizeObserver(resizeCurve).observe(at("curve"));
// The name of the collection, and queries to begin with. Where a token is needed, the first search asks for it.
async function begin() {
  try {
    const { name, documents, examples } = await describeCollection();
    at("collection").textContent = `${name === "default" ? "" : `${name}, `}${documents.toLocaleString("en")} passages`;
    at("examples").hidden = !examples.length;
    at("examples").replaceChildren("Try ", ...examples.map((query) => {
      const button = element("button", query);
      button.type = "button";
      button.addEventListener("click", () => { at("query").value = query; search(); });
      return button;
    }));
  } catch {
    at("token-field").hidden = true;
  }
}

watchLists(point, (left, right) => showDifference(left, right, (message) => say(message, true)));
watchMatrices();
addEventListener("popstate", () => { if (readAddress()) { label(); search(); } });
const asked = readAddress();
label();
say("Type a query, then press Enter.");
begin();
if (asked) search();
