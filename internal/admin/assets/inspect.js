// The URL inspector: what urlmill makes of URLs beside this browser's own URL.

import { at, el, fill, shown } from "./dom.js";

const members = ["href", "origin", "protocol", "username", "password", "host", "hostname", "port", "pathname", "search", "hash", "searchParams"];
const examples = [
  "https://user:pässword@www.bücher.co.uk:8443/a/../b?utm_source=news&q=a+b&q=%C3%BC#top",
  "HTTP://0x7F.1/\\admin", "https://[2001:DB8::0:1]/", "https://exa mple.com/", "data:text/plain,hello",
];

// browsers returns what this browser makes of a URL, null when it does not parse.
export function browsers(input, base) {
  let u;
  try {
    u = base === "" ? new URL(input) : new URL(input, base);
  } catch {
    return null;
  }
  const out = Object.fromEntries(members.map((m) => [m, u[m]]));
  out.searchParams = [...u.searchParams];
  return out;
}

// ask returns what urlmill makes of URLs, with the same members.
export async function ask(urls, base) {
  const answer = await fetch("api/inspect", {
    method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify({ urls, base }),
  });
  if (!answer.ok) throw new Error((await answer.text()).trim());
  const results = await answer.json();
  for (const r of results) r.searchParams = r.params ?? [];
  return results;
}

// differences names the members that differ, or "validity".
export function differences(ours, theirs) {
  if (Boolean(ours.error) !== (theirs === null)) return ["validity"];
  return ours.error ? [] : members.filter((m) => JSON.stringify(ours[m]) !== JSON.stringify(theirs[m]));
}

// anatomy returns a URL with its components told apart.
function anatomy(u) {
  const part = (kind, text) => (text === "" ? [] : [el("span", { class: `part ${kind}`, title: kind }, shown(text))]);
  const rest = u.href.slice(u.protocol.length);
  const slashes = rest.startsWith("//") ? "//" : "";
  const login = slashes && (u.username !== "" || u.password !== "") ? [...part("username", u.username),
    ...(u.password === "" ? [] : [":", ...part("password", u.password)]), "@"] : [];
  return el("p", { class: "anatomy" }, ...part("protocol", u.protocol), slashes, ...login, ...part("hostname", u.hostname),
    ...(u.port === "" ? [] : [":", ...part("port", u.port)]), ...part("pathname", u.pathname), ...part("search", u.search), ...part("hash", u.hash));
}

// value returns text, or pairs of names and values, as elements.
function value(v) {
  return typeof v === "string" ? [shown(v)] : v.slice(0, 200).map(([name, text]) => el("div", {}, shown(name), " = ", shown(text)));
}

function table(ours, theirs, differ) {
  const cell = (m, side, text) => el("td", { class: differ.includes(m) ? "bad" : "", "data-side": side }, ...value(text));
  const line = (m, name, a, b) => el("tr", {}, el("th", { scope: "row" }, name), cell(m, "urlmill", a), cell(m, "this browser", b));
  const rows = [line("validity", "is a URL", ours.error ? "no" : "yes", theirs ? "yes" : "no")];
  for (const m of members) {
    const [a, b] = [ours.error ? "" : ours[m], theirs ? theirs[m] : ""];
    if (a.length || b.length) rows.push(line(m, m, a, b));
  }
  if (ours.registrable_domain) {
    rows.push(el("tr", {}, el("th", { scope: "row" }, "registrable domain"), el("td", { "data-side": "urlmill" }, shown(ours.registrable_domain)), el("td", {})));
  }
  const head = el("thead", {}, el("tr", {}, ...["component", "urlmill", "this browser"].map((h) => el("th", { scope: "col" }, h))));
  return el("table", { class: "compare" }, head, el("tbody", {}, ...rows));
}

function result(input, ours, base) {
  const theirs = browsers(input, base);
  const differ = differences(ours, theirs);
  const verdict = differ.length ? `differs: ${differ.join(", ")}` : ours.error ? "same: no URL" : "same";
  const box = el("details", { class: "card" }, el("summary", {}, el("span", { class: `pill ${differ.length ? "bad" : "good"}` }, verdict), " ", shown(input, 200)));
  if (ours.error) {
    const where = ours.position === undefined ? "" : ` at byte ${ours.position}`;
    box.append(el("p", { class: "bad" }, `${ours.error}${where}${ours.text ? `: ${ours.text}` : ""}`));
  } else {
    box.append(anatomy(ours));
  }
  if (!ours.error || theirs) box.append(table(ours, theirs, differ));
  const notes = (ours.noticed ?? []).map((n) => el("li", {}, `${n.code} at byte ${n.position}: ${n.text}`));
  if (notes.length) box.append(el("p", { class: "hint" }, "Noticed, and no obstacle:"), el("ul", {}, ...notes));
  if (ours.key) {
    const steps = (ours.key_steps ?? []).map((c) => el("li", {}, `${c.rule}: ${c.text}: `, shown(c.url, 200)));
    box.append(el("p", { class: "hint" }, "Key by the canonical form dedupe: ", shown(ours.key, 200)), el("ol", {}, ...steps));
  }
  return { box, same: differ.length === 0 };
}

async function inspect() {
  const urls = at("urls").value.split("\n").filter((u) => u !== "");
  const base = at("base").value;
  const state = at("inspect-state");
  if (!urls.length) {
    state.textContent = "Give at least one URL.";
    at("urls").focus();
    return;
  }
  state.textContent = "Looking…";
  try {
    const answers = await ask(urls, base);
    const results = urls.map((u, i) => result(u, answers[i], base));
    if (results.length <= 3) for (const r of results) r.box.open = true;
    fill("results", results.map((r) => r.box));
    state.textContent = `${results.filter((r) => r.same).length} of ${results.length} the same`;
  } catch (e) {
    fill("results", []);
    state.textContent = `That did not work: ${e.message}`;
  }
}

at("inspect").addEventListener("submit", (event) => {
  event.preventDefault();
  inspect();
});

at("urls").addEventListener("keydown", (event) => {
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
    event.preventDefault();
    inspect();
  }
});

at("example").addEventListener("click", () => {
  at("urls").value = examples.join("\n");
  at("base").value = "";
  inspect();
});
