// What both scripts make elements with. Children that are text stay text.

export function el(name, attributes, ...children) {
  const e = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) e.setAttribute(key, value);
  e.append(...children);
  return e;
}

export function fill(id, children) {
  document.getElementById(id).replaceChildren(...children);
}
