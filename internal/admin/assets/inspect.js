// The URL inspector: what urlmill makes of URLs beside this browser's own URL.

import { el, fill } from "./dom.js";

const members = ["href", "origin", "protocol", "username", "password", "host", "hostname", "port", "pathname", "search", "hash"];
const at = (id) => document.getElementById(id);

// browsers returns what this browser makes of a URL, null when it does not parse.
export function browsers(input, base) {
  try {
    return base === "" ? new URL(input) : new URL(input, base);
  } catch {
    return null;
  }
}

// differences names the members that differ, or "validity".
export function differences(ours, theirs) {
  if (Boolean(ours.error) !== (theirs === null)) return ["validity"];
  return ours.error ? [] : members.filter((m) => ours[m] !== theirs[m]);
}

export async function ask(urls, base) {
  const answer = await fetch("api/inspect", {
    method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify({ urls, base }),
  });
  if (!answer.ok) throw new Error((await answer.text()).trim());
  return answer.json();
}

function result(input, ours, base) {
  const theirs = browsers(input, base);
  const differ = differences(ours, theirs);
  const cell = (m, text) => el("td", { class: differ.includes(m) ? "bad" : "" }, text);
  const rows = members.map((m) => el("tr", {}, el("th", { scope: "row" }, m),
    cell(m, ours.error ? "" : ours[m]), cell(m, theirs ? theirs[m] : "")));
  rows.unshift(el("tr", {}, el("th", { scope: "row" }, "parses"),
    cell("validity", ours.error ? `no: ${ours.error} at byte ${ours.position ?? 0}` : "yes"), cell("validity", theirs ? "yes" : "no")));
  if (ours.registrable_domain) {
    rows.push(el("tr", {}, el("th", { scope: "row" }, "registrable domain"), el("td", {}, ours.registrable_domain), el("td", {}, "")));
  }
  const head = el("thead", {}, el("tr", {}, el("th", { scope: "col" }, ""), el("th", { scope: "col" }, "urlmill"), el("th", { scope: "col" }, "this browser")));
  const notes = (ours.noticed ?? []).map((n) => el("li", {}, `${n.code} at byte ${n.position}: ${n.text}`));
  const all = el("details", {}, el("summary", {}, el("code", {}, input), differ.length ? ` differs: ${differ.join(", ")}` : " same"),
    el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Components" }, el("table", {}, head, el("tbody", {}, ...rows))));
  if (notes.length) all.append(el("p", {}, "Noticed:"), el("ul", {}, ...notes));
  return { all, same: differ.length === 0 };
}

at("inspect").addEventListener("submit", async (event) => {
  event.preventDefault();
  const urls = at("urls").value.split("\n").filter((u) => u !== "");
  const base = at("base").value;
  const state = at("inspect-state");
  try {
    const answers = await ask(urls, base);
    const results = urls.map((u, i) => result(u, answers[i], base));
    if (results.length === 1) results[0].all.open = true;
    fill("results", results.map((r) => r.all));
    state.textContent = `${results.filter((r) => r.same).length} of ${results.length} the same`;
  } catch (e) {
    state.textContent = `That did not work: ${e.message}`;
  }
});
