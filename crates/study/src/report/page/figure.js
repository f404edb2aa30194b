// Draws every <figure data-figure="ID"> of the report from the JSON beside it, as SVG that answers to a pointer, a
// finger and a keyboard. The same JSON is what the still SVG and PNG are drawn from. No network, no library.
"use strict";
(() => {
  const SVG = "http://www.w3.org/2000/svg";
  const MARKS = ["circle", "square", "triangle", "diamond", "cross", "ring", "star", "down"];
  const DASHES = ["", "7 3", "2 3", "9 3 2 3", "5 2", "1 3", "12 4", "4 2 1 2"];

  const element = (name, attributes = {}, ...children) => {
    const node = document.createElementNS(SVG, name);
    for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
    node.append(...children);
    return node;
  };
  const html = (name, attributes = {}, ...children) => {
    const node = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
    node.append(...children);
    return node;
  };

  // Four significant digits, grouped thousands, and a power of ten where that would be unreadable.
  const number = (value) => {
    if (value === 0) return "0";
    const size = Math.abs(value);
    if (size >= 1e9 || size < 1e-4) return value.toExponential(3).replace("e+", "e");
    const digits = Math.max(0, 3 - Math.floor(Math.log10(size)));
    return value.toLocaleString("en", { maximumFractionDigits: digits, minimumFractionDigits: 0 });
  };
  const tickLabel = (value) => {
    const size = Math.abs(value);
    if (size >= 1e6) return number(value / 1e6) + " M";
    if (size >= 1e4) return number(value / 1e3) + " k";
    return number(value);
  };
  const range = (point) =>
    point.low === undefined || point.low === null ? "" : ` (${number(point.low)} to ${number(point.high)})`;

  // Ticks at 1, 2 or 5 times a power of ten; on a logarithmic axis at powers of ten, and 2 and 5 where there is room.
  const linearTicks = (low, high, room) => {
    const rough = (high - low) / Math.max(2, room);
    const power = 10 ** Math.floor(Math.log10(rough));
    const step = [1, 2, 5, 10].find((s) => s * power >= rough) * power;
    const ticks = [];
    for (let i = Math.ceil(low / step - 1e-9); i * step <= high * (1 + 1e-12); i++) ticks.push(i * step);
    return ticks;
  };
  const logTicks = (low, high, room) => {
    const ticks = [];
    const decades = Math.log10(high / low);
    const steps = decades * 3 <= room ? [1, 2, 5] : [1];
    const stride = Math.max(1, Math.ceil(decades / Math.max(2, room)));
    for (let e = Math.floor(Math.log10(low)); e <= Math.ceil(Math.log10(high)); e++) {
      if (steps.length === 1 && e % stride !== 0) continue;
      for (const s of steps) {
        const tick = s * 10 ** e;
        if (tick >= low * 0.999999 && tick <= high * 1.000001) ticks.push(tick);
      }
    }
    return ticks.length >= 2 ? ticks : linearTicks(low, high, room).filter((t) => t > 0);
  };

  const mark = (kind, x, y, size) => {
    const s = size;
    switch (MARKS[kind % MARKS.length]) {
      case "square": return element("rect", { x: x - s, y: y - s, width: 2 * s, height: 2 * s });
      case "triangle": return element("path", { d: `M${x} ${y - 1.3 * s}L${x + 1.2 * s} ${y + s}H${x - 1.2 * s}Z` });
      case "diamond": return element("path", { d: `M${x} ${y - 1.4 * s}L${x + 1.4 * s} ${y}L${x} ${y + 1.4 * s}L${x - 1.4 * s} ${y}Z` });
      case "cross": return element("path", { d: `M${x - s} ${y - s}L${x + s} ${y + s}M${x + s} ${y - s}L${x - s} ${y + s}`, class: "open" });
      case "ring": return element("circle", { cx: x, cy: y, r: s, class: "open" });
      case "star": return element("path", { d: `M${x} ${y - 1.3 * s}V${y + 1.3 * s}M${x - 1.1 * s} ${y - 0.7 * s}L${x + 1.1 * s} ${y + 0.7 * s}M${x + 1.1 * s} ${y - 0.7 * s}L${x - 1.1 * s} ${y + 0.7 * s}`, class: "open" });
      case "down": return element("path", { d: `M${x} ${y + 1.3 * s}L${x + 1.2 * s} ${y - s}H${x - 1.2 * s}Z` });
      default: return element("circle", { cx: x, cy: y, r: s });
    }
  };

  class Figure {
    constructor(host) {
      this.host = host;
      this.data = JSON.parse(host.querySelector('script[type="application/json"]').textContent);
      this.hidden = new Set();
      this.log = { x: this.data.x.scale === "log", y: this.data.y.scale === "log" };
      this.focus = null;
      this.build();
      new ResizeObserver(() => this.draw()).observe(this.plot);
    }

    build() {
      this.still = this.host.querySelector(".still");
      this.plot = html("div", { class: "plot" });
      this.tip = html("div", { class: "tip", role: "status", "aria-live": "polite", hidden: "" });
      this.plot.append(this.tip);

      const keys = html("div", { class: "keys", role: "group", "aria-label": "Series" });
      this.data.series.forEach((series, i) => {
        const sample = element("svg", { width: 34, height: 14, "aria-hidden": "true", class: `s${i % 8}` });
        sample.append(
          element("path", { d: "M1 7H33", class: "line", "stroke-dasharray": DASHES[i % 8] }),
          mark(i, 17, 7, 4),
        );
        const key = html("button", { type: "button", "aria-pressed": "true" }, sample, series.name);
        key.addEventListener("click", () => {
          this.hidden.has(i) ? this.hidden.delete(i) : this.hidden.add(i);
          key.setAttribute("aria-pressed", String(!this.hidden.has(i)));
          this.focus = null;
          this.draw();
        });
        keys.append(key);
      });

      const switches = html("div", { class: "switches", role: "group", "aria-label": "Axes" });
      for (const axis of ["x", "y"]) {
        if (this.data[axis].labels || !this.allPositive(axis)) { this.log[axis] = false; continue; }
        const button = html("button", { type: "button", "aria-pressed": String(this.log[axis]) }, `log ${axis}`);
        button.addEventListener("click", () => {
          this.log[axis] = !this.log[axis];
          button.setAttribute("aria-pressed", String(this.log[axis]));
          this.draw();
        });
        switches.append(button);
      }
      // One series needs no key: the title names it.
      if (this.data.series.length < 2) keys.replaceChildren();
      const bar = html("div", { class: "controls" }, keys, switches);
      this.still.replaceWith(bar, this.plot);
    }

    allPositive(axis) {
      return this.data.series.every((s) => s.points.every((p) => (axis === "x" ? p.x : p.low ?? p.y) > 0));
    }

    shown() {
      return this.data.series.map((series, index) => ({ series, index })).filter(({ index }) => !this.hidden.has(index));
    }

    // The range an axis must show: all values and intervals, zero on a linear value axis, a margin.
    extent(axis) {
      const labels = this.data.x.labels;
      if (axis === "x" && labels) return [-0.5, labels.length - 0.5];
      const values = [];
      for (const { series } of this.shown()) {
        for (const p of series.points) {
          if (axis === "x") values.push(p.x);
          else values.push(p.y, p.low ?? p.y, p.high ?? p.y);
        }
      }
      if (axis === "y") for (const line of this.data.references ?? []) values.push(line.y);
      if (!values.length) return this.log[axis] ? [1, 10] : [0, 1];
      let low = Math.min(...values);
      let high = Math.max(...values);
      if (this.log[axis]) {
        const margin = high > low ? (high / low) ** 0.06 : 2;
        return [low / margin, high * margin];
      }
      if (axis === "y") {
        low = Math.min(0, low);
        return [low, high + (high - low || 1) * 0.06];
      }
      const margin = (high - low) * 0.04 || 0.5;
      return [low - margin, high + margin];
    }

    draw() {
      const width = Math.max(280, Math.floor(this.plot.clientWidth));
      if (!width) return;
      const height = Math.round(Math.min(440, Math.max(260, width * 0.52)));
      const x = this.data.x;
      const y = this.data.y;
      const tilt = x.labels && (width - 90) / x.labels.length < 8 * Math.max(...x.labels.map((l) => l.length));
      const box = { left: 64, right: 14, top: 14, bottom: tilt ? 104 : 52 };
      const [x0, x1] = this.extent("x");
      const [y0, y1] = this.extent("y");
      const along = (value, low, high, log) =>
        log ? Math.log(value / low) / Math.log(high / low) : (value - low) / (high - low);
      const inner = { w: width - box.left - box.right, h: height - box.top - box.bottom };
      const px = (value) => box.left + inner.w * along(value, x0, x1, this.log.x);
      const py = (value) => box.top + inner.h * (1 - along(value, y0, y1, this.log.y));

      const svg = element("svg", {
        width, height, viewBox: `0 0 ${width} ${height}`, role: "img", tabindex: 0,
        "aria-label": `${this.data.title}. ${this.data.description} Use the arrow keys to read the points.`,
      });
      const grid = element("g", { class: "grid" });
      const words = element("g", { class: "words" });

      const xTicks = x.labels ? x.labels.map((_, i) => i)
        : x.ticks && !this.log.x && x.ticks.length <= inner.w / 32 ? x.ticks
        : this.log.x ? logTicks(x0, x1, inner.w / 70) : linearTicks(x0, x1, inner.w / 70);
      for (const tick of xTicks) {
        const at = px(tick);
        if (!x.labels) grid.append(element("path", { d: `M${at} ${box.top}V${box.top + inner.h}` }));
        const attributes = tilt
          ? { x: at, y: box.top + inner.h + 14, "text-anchor": "end", transform: `rotate(-40 ${at} ${box.top + inner.h + 14})` }
          : { x: at, y: box.top + inner.h + 18, "text-anchor": "middle" };
        words.append(element("text", attributes, x.labels ? x.labels[tick] : tickLabel(tick)));
      }
      const yTicks = this.log.y ? logTicks(y0, y1, inner.h / 40) : linearTicks(y0, y1, inner.h / 40);
      for (const tick of yTicks) {
        const at = py(tick);
        grid.append(element("path", { d: `M${box.left} ${at}H${box.left + inner.w}` }));
        words.append(element("text", { x: box.left - 8, y: at + 4, "text-anchor": "end" }, tickLabel(tick)));
      }
      const axisName = (axis) => axis.label + (axis.unit ? ` (${axis.unit})` : "");
      words.append(
        element("text", { x: box.left + inner.w / 2, y: height - 8, "text-anchor": "middle", class: "axis" }, axisName(x)),
        element("text", { x: 14, y: box.top + inner.h / 2, "text-anchor": "middle", class: "axis",
          transform: `rotate(-90 14 ${box.top + inner.h / 2})` }, axisName(y)),
      );
      svg.append(grid, words);
      for (const line of this.data.references ?? []) {
        const at = py(line.y);
        svg.append(
          element("path", { class: "reference", d: `M${box.left} ${at}H${box.left + inner.w}` }),
          element("text", { class: "reference", x: box.left + inner.w - 4, y: at - 5, "text-anchor": "end" }, line.label),
        );
      }

      this.points = [];
      const shown = this.shown();
      // Named places have columns, which begin at zero: on a logarithmic axis there is none.
      const isColumn = Boolean(x.labels) && !this.log.y;
      shown.forEach(({ series, index }, place) => {
        const group = element("g", { class: `s${index % 8}` });
        // Series over categories stand side by side in their slot.
        const shift = x.labels ? ((place - (shown.length - 1) / 2) * Math.min(18, inner.w / x.labels.length / (shown.length + 1))) : 0;
        const at = series.points.map((p) => ({ p, x: px(p.x) + shift, y: py(p.y) }));
        if (!x.labels && at.length > 1) {
          group.append(element("path", { class: "line", "stroke-dasharray": DASHES[index % 8], d: "M" + at.map((a) => `${a.x} ${a.y}`).join("L") }));
        }
        for (const a of at) {
          if (isColumn) {
            const half = Math.min(26, inner.w / x.labels.length / (shown.length + 1) / 2);
            const foot = py(0);
            group.append(element("rect", { class: "column", x: a.x - half, y: Math.min(a.y, foot), width: 2 * half, height: Math.abs(foot - a.y) }));
          }
          if (a.p.low !== undefined && a.p.low !== null) {
            const low = py(a.p.low);
            const high = py(a.p.high);
            group.append(element("path", { class: isColumn ? "bar ink" : "bar", d: `M${a.x} ${low}V${high}M${a.x - 4} ${low}h8M${a.x - 4} ${high}h8` }));
          }
          if (!isColumn) group.append(mark(index, a.x, a.y, 4));
          this.points.push({ ...a, series });
        }
        svg.append(group);
      });
      this.points.sort((a, b) => a.x - b.x || a.y - b.y);

      this.halo = element("circle", { class: "halo", r: 9, visibility: "hidden" });
      svg.append(this.halo);
      svg.addEventListener("pointermove", (event) => {
        const at = svg.getBoundingClientRect();
        const [mx, my] = [event.clientX - at.left, event.clientY - at.top];
        let best = null;
        this.points.forEach((p, i) => {
          const distance = Math.hypot(p.x - mx, p.y - my);
          if (distance < 40 && (!best || distance < best.distance)) best = { distance, i };
        });
        this.show(best ? best.i : null);
      });
      svg.addEventListener("pointerleave", () => this.show(null));
      svg.addEventListener("blur", () => this.show(null));
      svg.addEventListener("keydown", (event) => {
        const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
        if (event.key === "Escape") return this.show(null);
        if (!step || !this.points.length) return;
        event.preventDefault();
        const from = this.focus ?? (step > 0 ? -1 : this.points.length);
        this.show((from + step + this.points.length) % this.points.length);
      });
      this.plot.querySelector("svg")?.remove();
      this.plot.prepend(svg);
      this.show(null);
    }

    show(index) {
      this.focus = index;
      const point = index === null ? null : this.points[index];
      this.tip.hidden = !point;
      this.halo.setAttribute("visibility", point ? "visible" : "hidden");
      if (!point) return;
      this.halo.setAttribute("cx", point.x);
      this.halo.setAttribute("cy", point.y);
      const { x, y } = this.data;
      const where = x.labels ? x.labels[point.p.x] : `${x.label}: ${number(point.p.x)}${x.unit ? " " + x.unit : ""}`;
      this.tip.replaceChildren(
        html("strong", {}, point.series.name), html("span", {}, where),
        html("span", {}, `${number(point.p.y)}${range(point.p)} ${y.unit ?? ""}`),
        ...(point.p.note ? [html("em", {}, point.p.note)] : []),
      );
      const room = this.plot.clientWidth;
      const wide = this.tip.offsetWidth;
      this.tip.style.left = Math.max(0, Math.min(room - wide, point.x + 14 + wide > room ? point.x - wide - 14 : point.x + 14)) + "px";
      this.tip.style.top = Math.max(0, point.y - this.tip.offsetHeight - 8) + "px";
    }
  }

  for (const host of document.querySelectorAll("figure[data-figure]")) new Figure(host);
  document.documentElement.dataset.figures = "drawn";
})();
