// What was found, in words.

const count = (number, one, many = `${one}s`) => `${number} ${number === 1 ? one : many}`;

// Rounded up: what is proved must stay true.
export const roundUp = (gap) => (Math.ceil(gap * 1e4 - 1e-9) / 1e4).toFixed(4);

export function proof(set) {
  const sets = `set of ${count(set.ids.length, "passage")}`;
  const certificate = set.certificate;
  if (!certificate) return "A first answer, from the most relevant passages. The proof follows.";
  if (certificate.optimal) return `Proved: no allowed ${sets} scores higher.`;
  const least = `no allowed ${sets} scores more than ${roundUp(certificate.gap)} higher`;
  return certificate.exact ? `Proved: ${least}.` : `Estimated, since the engine searches approximately: ${least}.`;
}

export function worth(set) {
  return `Score ${set.objective.toFixed(4)} = θ · relevance − (1 − θ) · redundancy, with θ = ${set.theta}. ` +
    `Redundancy is the mean of cosine^${set.sharpness} over all pairs.`;
}

export function measures(set) {
  return `relevance ${set.relevance.toFixed(3)}, redundancy ${set.redundancy.toFixed(3)}`;
}

export function change(sets, originals, asked) {
  const { chosen, top } = sets;
  const gone = top.ids.filter((id) => !chosen.ids.includes(id));
  const came = chosen.ids.filter((id) => !top.ids.includes(id));
  const copies = gone.filter((id) => originals.has(id));
  const lacking = chosen.ids.length < asked
    ? ` There are only ${chosen.ids.length} instead of ${asked}: no more are different enough and on topic.` : "";
  if (!gone.length && !came.length) return `The set is plain top-k.${lacking}`;
  const parts = [copies.length && count(copies.length, "copy", "copies"),
    gone.length - copies.length && `${gone.length - copies.length} given up`].filter(Boolean);
  const left = gone.length ? `${gone.length} of ${top.ids.length} dropped: ${parts.join(", ")}.` : "";
  const entered = came.length ? ` ${count(came.length, "passage")} came in instead.` : " None came in instead.";
  return left + entered + lacking;
}
