// Markdown as text: its marks become elements, and nothing else does. Texts come from documents and are not trusted.

import { element } from "./elements.js";

const INLINE = /\*\*(?<strong>[^*\n]+)\*\*|`(?<code>[^`\n]+)`|!?\[(?<link>[^\]\n]+)\]\([^)\s]+\)/g;
const HEADING = /^#{1,6}\s+/, ITEM = /^(\s*)[-*+]\s+/;

export function renderText(text) {
  const made = document.createDocumentFragment();
  text.split("\n").forEach((line, number) => {
    if (number) made.append("\n");
    if (HEADING.test(line)) made.append(element("strong", line.replace(HEADING, "")));
    else made.append(...renderLine(line.replace(ITEM, "$1• ")));
  });
  return made;
}

function renderLine(line) {
  const parts = [];
  let end = 0;
  for (const found of line.matchAll(INLINE)) {
    const { strong, code, link } = found.groups;
    parts.push(line.slice(end, found.index));
    parts.push(strong ? element("strong", strong) : code ? element("code", code) : link);
    end = found.index + found[0].length;
  }
  return [...parts, line.slice(end)];
}
