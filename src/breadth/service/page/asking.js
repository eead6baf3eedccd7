// Questions to the service.

import { at } from "./elements.js";

export async function inspect(body) {
  const headers = { "Content-Type": "application/json" };
  if (at("token").value) headers.Authorization = `Bearer ${at("token").value}`;
  let answer;
  try {
    answer = await fetch("v1/inspect", { method: "POST", headers, body: JSON.stringify(body) });
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
