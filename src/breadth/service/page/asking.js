// Questions to the service.

import { at } from "./elements.js";

export const inspect = (body) => ask("v1/inspect", body);
export const compare = (left, right) => ask("v1/compare", { left, right });
export const describeCollection = () => ask("v1/collection");

async function ask(path, body) {
  const headers = { "Content-Type": "application/json" };
  if (at("token").value) headers.Authorization = `Bearer ${at("token").value}`;
  let answer;
  try {
    answer = await fetch(path, body ? { method: "POST", headers, body: JSON.stringify(body) } : { headers });
  } catch {
    throw new Error("The service does not answer. Start it again with breadth serve, then press Search.");
  }
  const data = await answer.json().catch(() => ({}));
  if (answer.ok) return data;
  if (answer.status === 401) {
    at("token-field").hidden = false;
    throw new Error("The service asks for its token: type it into the field Token, then press Search.");
  }
  const reason = data.error?.message ?? `the service answers with status ${answer.status}`;
  throw new Error(`No answer: ${reason}.`);
}
