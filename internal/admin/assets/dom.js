// What the scripts make elements with. Children that are text stay text.

const svgSpace = "http://www.w3.org/2000/svg";

export const at = (id) => document.getElementById(id);

export function el(name, attributes, ...children) {
  return finish(document.createElement(name), attributes, children);
}

export function svg(name, attributes, ...children) {
  return finish(document.createElementNS(svgSpace, name), attributes, children);
}

function finish(e, attributes, children) {
  for (const [key, value] of Object.entries(attributes)) e.setAttribute(key, value);
  e.append(...children);
  return e;
}

export function fill(id, children) {
  at(id).replaceChildren(...children);
}

// What cannot be seen, or changes how the text around it is seen: controls, format characters such as marks of direction,
// private use, unassigned, halves of surrogate pairs, separators of lines and paragraphs, spaces other than the usual one.
const unseen = /[\p{C}\p{Zl}\p{Zp}]|(?! )\p{Zs}/gu;
const most = 2000;

// shown returns text that comes from records or from people as an element in which everything can be seen and nothing
// leaves its place: what is invisible is named, what is very long is cut.
export function shown(text, limit = most) {
  const e = el("bdi", { dir: "ltr", class: "text" });
  const end = text.length > limit ? limit : text.length;
  let from = 0;
  for (const found of text.slice(0, end).matchAll(unseen)) {
    e.append(text.slice(from, found.index), named(found[0]));
    from = found.index + found[0].length;
  }
  e.append(text.slice(from, end));
  if (end < text.length) e.append(el("span", { class: "cut" }, ` … ${text.length.toLocaleString("en")} characters`));
  return e;
}

function named(character) {
  return el("span", { class: "unseen" }, `U+${character.codePointAt(0).toString(16).toUpperCase().padStart(4, "0")}`);
}
