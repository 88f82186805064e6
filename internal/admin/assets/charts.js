// Line charts of the last hour, without a library.

import { at, el, svg } from "./dom.js";

const width = 600;
const height = 120;
const hour = 3600e3;
const shortest = 2 * 60e3; // of the time that a chart shows
const clock = new Intl.DateTimeFormat("en", { hour: "2-digit", minute: "2-digit", second: "2-digit", hourCycle: "h23" });

// ceiling returns a round number that is not below n, for the upper end of an axis.
function ceiling(n) {
  if (n <= 0) return 1;
  const power = 10 ** Math.floor(Math.log10(n));
  return [1, 2, 2.5, 5, 10].map((m) => m * power).find((m) => m >= n * 0.9999);
}

// Chart is a figure called id below parent. value takes a number from a point and format makes text of it.
export class Chart {
  constructor(parent, id, name, value, format) {
    Object.assign(this, { id, name, value, format, points: [] });
    this.now = el("b", {}, "–");
    this.area = svg("path", { class: "area" });
    this.line = svg("path", { class: "line" });
    this.cross = svg("path", { class: "cross" });
    this.grid = svg("path", { class: "grid", d: `M0 ${height / 2}H${width}M0 1H${width}M0 ${height - 1}H${width}` });
    this.svg = svg("svg", { id, role: "img", "aria-label": name, viewBox: `0 0 ${width} ${height}`, preserveAspectRatio: "none" },
      this.grid, this.area, this.line, this.cross);
    this.most = el("span", { class: "most" });
    this.from = el("span", {});
    this.read = el("span", { class: "reading" });
    this.figure = el("figure", { class: "card", id: `${id}-figure` }, el("figcaption", {}, name, " ", this.now),
      el("div", { class: "plot" }, this.svg, this.most),
      el("div", { class: "axis", "aria-hidden": "true" }, this.from, this.read, el("span", {}, "now")));
    at(parent).append(this.figure);
    this.svg.addEventListener("pointermove", (e) => this.point(e));
    this.svg.addEventListener("pointerleave", () => this.leave());
  }

  // draw shows points, oldest first.
  draw(points) {
    this.points = points;
    if (!points.length) return;
    this.end = points.at(-1).time;
    this.span = Math.min(hour, Math.max(shortest, this.end - points[0].time));
    const values = points.map(this.value);
    const most = Math.max(...values);
    this.top = ceiling(most);
    const line = points.map((p, i) => `${i ? "L" : "M"}${this.x(p).toFixed(1)} ${this.y(values[i]).toFixed(1)}`).join("");
    this.line.setAttribute("d", line);
    this.area.setAttribute("d", `${line}V${height - 1}H${this.x(points[0]).toFixed(1)}Z`);
    const now = this.format(values.at(-1));
    this.now.textContent = now;
    this.most.textContent = this.format(this.top);
    this.from.textContent = `${Math.round(this.span / 60e3)} min ago`;
    this.svg.setAttribute("aria-label", `${this.name}: now ${now}, at most ${this.format(most)} in ${Math.round(this.span / 60e3)} minutes`);
  }

  x(p) { return width - (width * (this.end - p.time)) / this.span; }
  y(value) { return height - 1 - ((height - 2) * value) / this.top; }

  // point reads the chart at the pointer.
  point(e) {
    if (!this.points.length) return;
    const box = this.svg.getBoundingClientRect();
    const time = this.end - this.span * (1 - (e.clientX - box.left) / box.width);
    const near = this.points.reduce((a, b) => (Math.abs(b.time - time) < Math.abs(a.time - time) ? b : a));
    this.cross.setAttribute("d", `M${this.x(near).toFixed(1)} 0V${height}`);
    this.read.textContent = `${clock.format(near.time)}: ${this.format(this.value(near))}`;
  }

  leave() {
    this.cross.removeAttribute("d");
    this.read.textContent = "";
  }
}
