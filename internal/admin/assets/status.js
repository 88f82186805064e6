// The status page: polls api/status and puts what it says into the page.

import { Chart } from "./charts.js";
import { at, el, fill, shown } from "./dom.js";

const pollEvery = 2000;
const count = new Intl.NumberFormat("en", { maximumFractionDigits: 1 });
const whole = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });
const share = new Intl.NumberFormat("en", { style: "percent", minimumFractionDigits: 2, maximumFractionDigits: 2 });
const time = new Intl.DateTimeFormat("en", { hour: "2-digit", minute: "2-digit", second: "2-digit", hourCycle: "h23" });
const hour = 3600e3;

const rate = (n) => (n < 10 ? count : whole).format(n);

function bytes(n) {
  const units = ["B", "KiB", "MiB", "GiB", "TiB"];
  let i = 0;
  for (; n >= 1024 && i < units.length - 1; i++) n /= 1024;
  return `${count.format(n)} ${units[i]}`;
}

function age(seconds) {
  if (seconds < 60) return `${count.format(seconds)} s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ${Math.floor(seconds % 60)} s`;
  return `${Math.floor(seconds / 3600)} h ${Math.floor((seconds % 3600) / 60)} min`;
}

const charts = [
  new Chart("figures", "rows", "Rows a second", (p) => p.rows, rate),
  new Chart("figures", "lag", "Records behind", (p) => p.lag, whole.format),
  new Chart("figures", "invalid", "Invalid rows a second", (p) => p.errors, rate),
  new Chart("figures", "oldest", "Oldest uncommitted row", (p) => p.oldest, age),
];

let last = null; // the answer before
let history = [];

// remember adds the new points of an answer to those that are known.
function remember(s) {
  if (last && last.began !== s.began) history = []; // another process
  const fresh = s.history.map((p) => ({ ...p, time: Date.parse(p.at) }));
  const newest = history.length ? history.at(-1).time : -Infinity;
  history.push(...fresh.filter((p) => p.time > newest));
  const end = history.length ? history.at(-1).time : 0;
  history = history.filter((p) => end - p.time <= hour);
}

// pace returns how much of something came in a second since the answer before.
function pace(s, of) {
  const seconds = last && last.began === s.began ? (Date.parse(s.now) - Date.parse(last.now)) / 1000 : 0;
  return seconds > 0 ? Math.max(0, s[of] - last[of]) / seconds : 0;
}

function totals(s) {
  const oldest = Math.max(0, ...(s.lanes ?? []).map((l) => l.oldest));
  const tiles = [
    ["Rows", whole.format(s.rows), `${rate(pace(s, "rows"))} a second`],
    ["Read", bytes(s.bytes), `${bytes(pace(s, "bytes"))} a second`],
    ["Committed", whole.format(s.committed), `in ${whole.format(s.commits)} commits, ${whole.format(s.files)} files, ${bytes(s.file_bytes)}`],
    ["Invalid", whole.format(s.invalid), s.rows ? `${share.format(s.invalid / s.rows)} of all; ${whole.format(s.dropped)} dropped, ${whole.format(s.dead_letters)} dead letters; ${whole.format(s.nulled)} with a field made null` : "none"],
    ["Behind", s.has_lag ? whole.format(s.lag) : "–", s.has_lag ? `records of ${s.lane_count} lanes` : "the source cannot say"],
    ["Oldest uncommitted", oldest ? age(oldest) : "none", `of ${s.lane_count} lanes`],
    ["Memory", bytes(s.memory), `of ${bytes(s.memory_limit)}`],
    ["Running for", age((Date.parse(s.now) - Date.parse(s.began)) / 1000), `since ${time.format(Date.parse(s.began))}`],
  ];
  fill("totals", tiles.map(([name, value, note]) => el("div", { class: "card" }, el("dt", {}, name), el("dd", {}, value, el("small", {}, note)))));
}

const row = (...cells) => el("tr", {}, ...cells.map((c) => (c instanceof HTMLTableCellElement ? c : el("td", {}, c))));
const number = (text, kind = "") => el("td", { class: `n ${kind}` }, text);
const position = (n) => (n < 0 ? "–" : whole.format(n));

function lanes(s) {
  const list = s.lanes ?? [];
  at("lane-count").textContent = list.length < s.lane_count ? `the ${list.length} with the oldest rows, of ${s.lane_count}` : `${s.lane_count}`;
  fill("lane-rows", list.map((l) => row(el("th", { scope: "row" }, shown(l.name)), number(whole.format(l.rows)), number(position(l.written)),
    number(position(l.committed)), number((l.behind === null ? "–" : whole.format(l.behind)) + (l.standing >= 5 ? `, stands for ${age(l.standing)}` : "")),
    number((l.oldest ? age(l.oldest) : "none") + (l.stuck ? ", stuck" : ""), l.stuck ? "bad" : ""))));
}

// bars fills a list with names and amounts, longest bar first.
function bars(id, items, empty) {
  const most = Math.max(...items.map((i) => i.amount));
  fill(id, items.length ? items.map((i) => {
    const bar = el("span", { class: "fill" });
    bar.style.width = `${(100 * i.amount) / most}%`;
    return el("li", {}, el("span", { class: "name" }, shown(i.name, 100)), el("span", { class: "track", "aria-hidden": "true" }, bar), el("span", { class: "amount" }, i.text));
  }) : [el("li", { class: "empty" }, empty)]);
}

function problems(s) {
  const list = s.problems ?? [];
  state(list.length ? "Not ready" : "Ready", list.length ? "bad" : "good");
  fill("name", [shown(s.name, 80)]);
  const name = s.name ? `${s.name} - urlmill` : "urlmill";
  document.title = list.length ? `${name}: not ready` : name;
  fill("problems", [...list, ...(s.notices ?? [])].map((p) => el("li", { class: "card" }, el("b", {}, p.code), " ", shown(p.detail), ...(p.advice ? [el("p", {}, p.advice)] : []))));
}

// state sets what is read to those who listen, only when it changes.
function state(text, kind) {
  const e = at("state");
  if (e.textContent !== text) e.textContent = text;
  e.className = `pill ${kind}`;
}

function show(s) {
  remember(s);
  problems(s);
  totals(s);
  at("lag-figure").hidden = !s.has_lag;
  for (const c of charts) c.draw(history);
  lanes(s);
  bars("domain-list", s.domains.map((d) => ({ name: d.name, amount: d.share, text: share.format(d.share) })), "none yet");
  at("visits").hidden = !s.channels && !s.bots;
  for (const [id, list] of [["channel-list", s.channels], ["bot-list", s.bots]])
    bars(id, (list ?? []).map((c) => ({ name: c.name, amount: c.share, text: share.format(c.share) })), "none");
  const codes = Object.entries(s.errors ?? {}).sort((a, b) => b[1] - a[1]).slice(0, 20);
  bars("codes", codes.map(([code, n]) => ({ name: `${s.kinds[code]}: ${code}`, amount: n, text: whole.format(n) })), "none");
  fill("bad", s.bad.toReversed().map((b) => row(el("td", { class: "brief" }, time.format(Date.parse(b.at))),
    el("td", { class: "brief" }, shown(b.lane, 60)), el("td", { class: "brief" }, b.code), el("td", { class: "wide" }, shown(b.url)))));
  const messages = s.messages.toReversed().map((m) => el("li", { class: m.level.toLowerCase() },
    el("time", {}, time.format(Date.parse(m.at))), " ", el("b", {}, m.level), " ", shown(m.text)));
  fill("messages", messages.length ? messages : [el("li", {}, "none")]);
  const b = s.build;
  fill("versions", [["urlmill", b.version], ["Go", b.go], ["URL Standard", b.standard], ["Public Suffix List", b.psl]]
    .map(([name, value]) => el("div", {}, el("dt", {}, name), el("dd", {}, value))));
  fill("settings", (s.config ?? []).map((c) => row(el("th", { scope: "row" }, c.key), el("td", {}, shown(c.value)))));
  last = s;
}

// poll asks for what is new, again and again, and less often while nobody looks.
async function poll() {
  try {
    const since = history.length ? `?since=${encodeURIComponent(history.at(-1).at)}` : "";
    const answer = await fetch(`api/status${since}`);
    if (!answer.ok) throw new Error(`status ${answer.status}`);
    show(await answer.json());
  } catch {
    state("No answer from urlmill: has it ended?", "bad");
  }
  setTimeout(poll, document.hidden ? 15 * pollEvery : pollEvery);
}

poll();
