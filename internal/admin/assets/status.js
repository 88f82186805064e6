// The status page: polls api/status and puts what it says into the page. Every text goes in by textContent.

import { el, fill } from "./dom.js";

const pollEvery = 2000;
const at = (id) => document.getElementById(id);
const count = new Intl.NumberFormat("en", { maximumFractionDigits: 1 });
const time = new Intl.DateTimeFormat("en", { hour: "2-digit", minute: "2-digit", second: "2-digit", hourCycle: "h23" });

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

// draw puts a line into the chart called id: an hour wide, from zero to its highest value.
function draw(id, points, value, format) {
  const svg = at(id);
  const hour = 3600e3;
  const end = points.length ? Date.parse(points[points.length - 1].at) : 0;
  const most = Math.max(1e-9, ...points.map(value));
  const path = points.map((p, i) => {
    const x = 600 - (600 * (end - Date.parse(p.at))) / hour;
    return `${i ? "L" : "M"}${x.toFixed(1)} ${(118 - (114 * value(p)) / most).toFixed(1)}`;
  });
  const line = document.createElementNS("http://www.w3.org/2000/svg", "path");
  line.setAttribute("d", path.join(""));
  svg.replaceChildren(line);
  const now = points.length ? format(value(points[points.length - 1])) : "–";
  at(`${id}-now`).textContent = now;
  const name = svg.dataset.name ??= svg.getAttribute("aria-label");
  svg.setAttribute("aria-label", `${name}: now ${now}, at most ${points.length ? format(most) : "–"} in the last hour`);
}

function totals(s) {
  const rows = [
    ["Rows", count.format(s.rows)], ["Read", bytes(s.bytes)], ["Committed", count.format(s.committed)],
    ["Commits", count.format(s.commits)], ["Files", `${count.format(s.files)}, ${bytes(s.file_bytes)}`],
    ["Invalid", count.format(s.invalid)], ["Dropped", count.format(s.dropped)], ["Dead letters", count.format(s.dead_letters)],
    ["Memory", `${bytes(s.memory)} of ${bytes(s.memory_limit)}`], ["Running for", age((Date.parse(s.now) - Date.parse(s.began)) / 1000)],
  ];
  if (s.has_lag) rows.push(["Behind", count.format(s.lag)]);
  fill("totals", rows.map(([name, value]) => el("div", {}, el("dt", {}, name), el("dd", {}, value))));
}

const row = (...cells) => el("tr", {}, ...cells.map((c) => (c instanceof Node ? c : el("td", {}, c))));
const position = (n) => (n < 0 ? "–" : count.format(n));

function lanes(s) {
  const shown = s.lanes ?? [];
  at("lane-count").textContent = shown.length < s.lane_count ? `the ${shown.length} with the oldest rows, of ${s.lane_count}` : `${s.lane_count}`;
  fill("lane-rows", shown.map((l) => row(l.name, count.format(l.rows), position(l.written), position(l.committed),
    l.behind === null ? "–" : count.format(l.behind),
    el("td", { class: l.stuck ? "bad" : "" }, l.oldest ? age(l.oldest) + (l.stuck ? ", stuck" : "") : "none"))));
}

function show(s) {
  const problems = s.problems ?? [];
  const state = at("state");
  const text = problems.length ? "Not ready" : "Ready";
  if (state.textContent !== text) state.textContent = text;
  state.className = problems.length ? "bad" : "good";
  document.title = problems.length ? "urlmill: not ready" : "urlmill";
  fill("problems", problems.map((p) => el("li", {}, `${p.code}: ${p.detail}`)));
  at("version").textContent = `${s.build.version}, ${s.build.go}, URL Standard ${s.build.standard}, Public Suffix List ${s.build.psl}`;
  totals(s);
  draw("rows", s.history, (p) => p.rows, (n) => count.format(n));
  draw("invalid", s.history, (p) => p.errors, (n) => count.format(n));
  at("lag-figure").hidden = !s.has_lag;
  draw("lag", s.history, (p) => p.lag, (n) => count.format(n));
  draw("oldest", s.history, (p) => p.oldest, age);
  lanes(s);
  fill("domain-list", s.domains.map((d) => el("li", {}, el("code", {}, d.name), ` ${count.format(100 * d.share)} %`)));
  const codes = Object.entries(s.errors ?? {}).sort((a, b) => b[1] - a[1]);
  fill("codes", codes.map(([code, n]) => row(code, count.format(n))));
  fill("bad", s.bad.toReversed().map((b) => row(time.format(Date.parse(b.at)), b.lane, b.code, b.url)));
  fill("messages", s.messages.toReversed().map((m) => el("li", {}, `${time.format(Date.parse(m.at))} ${m.level} ${m.text}`)));
  fill("settings", (s.config ?? []).map((c) => row(c.key, c.value)));
}

async function poll() {
  try {
    const answer = await fetch("api/status");
    if (!answer.ok) throw new Error(`status ${answer.status}`);
    show(await answer.json());
  } catch {
    at("state").textContent = "No answer from urlmill: has it ended?";
    at("state").className = "bad";
  }
  setTimeout(poll, pollEvery);
}

poll();
