// What is asked, in the address of the page: it can be kept and sent.

import { at } from "./elements.js";

const SETTINGS = ["k", "theta", "distinct"];

export function readAddress() {
  const told = new URLSearchParams(location.search);
  for (const name of SETTINGS) if (told.has(name)) at(name).value = told.get(name);
  at("query").value = told.get("q") ?? at("query").value;
  return told.has("q");
}

export function writeAddress(query, isNew) {
  const told = new URLSearchParams({ q: query });
  for (const name of SETTINGS) if (at(name).value !== at(name).defaultValue) told.set(name, at(name).value);
  if (isNew && `?${told}` !== location.search) history.pushState(null, "", `?${told}`);
  else history.replaceState(null, "", `?${told}`);
}
