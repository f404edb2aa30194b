// Draws every <figure data-figure="ID"> of the report from the JSON beside it, as SVG that answers to a pointer, a
// finger and a keyboard. The still SVG and PNG are drawn from the same data. No network, no library.
"use strict";
(() => {
  const SVG = "http://www.w3.org/2000/svg";
  const MARKS = ["circle", "square", "triangle", "diamond", "cross", "ring", "star", "down"];
  // From here on there is room for names beside the plot.
  const WIDE = 600;
  // Colours repeat after eight, but then with other marks and with dashes: 64 series differ.
  const form = (index) => (index + Math.floor(index / 8)) % 8;
  const dashes = (index) => (index < 8 ? "none" : "6 3");

  const set = (node, attributes, children) => {
    for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
    node.append(...children);
    return node;
  };
  const element = (name, attributes = {}, ...children) => set(document.createElementNS(SVG, name), attributes, children);
  const html = (name, attributes = {}, ...children) => set(document.createElement(name), attributes, children);
  const path = (d, attributes = {}) => element("path", { d, ...attributes });

  // As the tables have them: four significant digits, grouped thousands.
  const number = (value) => {
    if (value === 0 || !Number.isFinite(value)) return String(value);
    const rounded = Number(value.toPrecision(4));
    const power = Math.floor(Math.log10(Math.abs(rounded)) + 1e-12);
    if (power < -6 || power >= 12) return value.toExponential(3).replace("e+", "e");
    const digits = Math.max(0, 3 - power);
    return rounded.toLocaleString("en", { minimumFractionDigits: digits, maximumFractionDigits: digits });
  };
  const plain = (value) => number(value).replace(/\.(\d*?)0+$/, (_, kept) => (kept ? "." + kept : ""));
  // A mark of an axis, in few characters: 1,500, 20 k, 2.5 M, 10⁻⁵.
  const markWords = (value) => {
    const size = Math.abs(value);
    if (size === 0) return "0";
    if (size < 1e-3 || size >= 1e9) {
      const [factor, power] = value.toExponential().split("e");
      const raised = [...power.replace("+", "")].map((c) => (c === "-" ? "⁻" : "⁰¹²³⁴⁵⁶⁷⁸⁹"[c])).join("");
      return (factor === "1" ? "" : plain(Number(factor)) + " × ") + "10" + raised;
    }
    if (size >= 1e6) return plain(value / 1e6) + " M";
    if (size >= 1e4) return plain(value / 1e3) + " k";
    return plain(value);
  };
  const hasInterval = (point) => point.low !== undefined && point.low !== null;
  const interval = (point) => (hasInterval(point) ? `${number(point.low)} to ${number(point.high)}` : "");
  const axisName = (axis) => axis.label + (axis.unit ? ` (${axis.unit})` : "");
  // What words take, roughly: they cannot be measured before they are drawn.
  const wide = (words, size = 12) => words.length * size * 0.6;

  // Marks at 1, 2 or 5 times a power of ten.
  const evenMarks = (low, high, room) => {
    const rough = (high - low) / Math.max(2, room);
    const power = 10 ** Math.floor(Math.log10(rough));
    const step = [1, 2, 5, 10].find((s) => s * power >= rough) * power;
    const marks = [];
    for (let i = Math.ceil(low / step - 1e-9); i * step <= high * (1 + 1e-12); i++) marks.push(i * step);
    return marks;
  };
  // Marks at powers of ten, at every second or third of them where they are many, at 2 and 5 too where they are few.
  const decadeMarks = (low, high, room) => {
    const decades = Math.log10(high / low);
    const factors = decades * 3 <= room ? [1, 2, 5] : [1];
    const stride = Math.max(1, Math.ceil(decades / Math.max(2, room)));
    const marks = [];
    for (let e = Math.floor(Math.log10(low)); e <= Math.ceil(Math.log10(high)); e++) {
      if (e % stride === 0) for (const f of factors) marks.push(Number(`${f}e${e}`));
    }
    const inside = marks.filter((mark) => mark >= low && mark <= high);
    return inside.length >= 2 ? inside : evenMarks(low, high, room).filter((mark) => mark > 0);
  };

  const mark = (index, x, y, s) => {
    const at = (dx, dy) => `${x + dx * s} ${y + dy * s}`;
    switch (MARKS[form(index)]) {
      case "square": return element("rect", { x: x - s, y: y - s, width: 2 * s, height: 2 * s, class: "mark" });
      case "triangle": return path(`M${at(0, -1.3)}L${at(1.2, 1)}L${at(-1.2, 1)}Z`, { class: "mark" });
      case "diamond": return path(`M${at(0, -1.4)}L${at(1.4, 0)}L${at(0, 1.4)}L${at(-1.4, 0)}Z`, { class: "mark" });
      case "cross": return path(`M${at(-1, -1)}L${at(1, 1)}M${at(1, -1)}L${at(-1, 1)}`, { class: "mark open" });
      case "ring": return element("circle", { cx: x, cy: y, r: s, class: "mark open" });
      case "star": return path(`M${at(0, -1.3)}L${at(0, 1.3)}M${at(-1.1, -0.7)}L${at(1.1, 0.7)}M${at(1.1, -0.7)}L${at(-1.1, 0.7)}`, { class: "mark open" });
      case "down": return path(`M${at(0, 1.3)}L${at(1.2, -1)}L${at(-1.2, -1)}Z`, { class: "mark" });
      default: return element("circle", { cx: x, cy: y, r: s, class: "mark" });
    }
  };

  // Places as near as can be to those wanted, which ascend, with a gap between neighbours.
  const apart = (wanted, gap, least, most) => {
    const placed = [];
    for (const place of wanted) placed.push(Math.max(place, placed.length ? placed.at(-1) + gap : least));
    let free = most;
    for (let i = placed.length - 1; i >= 0; i--) {
      placed[i] = Math.min(placed[i], free);
      free = placed[i] - gap;
    }
    return placed;
  };

  class Figure {
    constructor(host) {
      this.host = host;
      this.data = JSON.parse(host.querySelector('script[type="application/json"]').textContent);
      this.names = this.data.x.labels;
      this.hidden = new Set();
      this.log = { x: this.data.x.scale === "log", y: this.data.y.scale === "log" };
      this.points = [];
      this.at = null;
      this.build();
      this.listen();
      this.draw();
      new ResizeObserver(() => this.resize()).observe(this.plot);
    }

    build() {
      const { title, description, series } = this.data;
      const keys = html("div", { class: "keys", role: "group", "aria-label": "Series" });
      // One series needs no key: the title names it.
      if (series.length > 1) series.forEach((one, index) => keys.append(this.key(one, index)));
      const switches = html("div", { class: "switches", role: "group", "aria-label": "Axes" });
      for (const axis of ["x", "y"]) {
        if (this.data[axis].labels || !this.isPositive(axis)) this.log[axis] = false;
        else switches.append(this.switch(axis));
      }
      const reading = this.names ? "Arrow keys read the values." : "Left and right read a line, up and down change it.";
      this.svg = element("svg", { tabindex: 0, role: "application", "aria-roledescription": "interactive figure",
        "aria-label": `${title}. ${description} ${reading}` });
      this.tip = html("div", { class: "tip", "aria-hidden": "true", hidden: "" });
      // What a screen reader says; hovering stays silent.
      this.said = html("div", { class: "unseen", role: "status", "aria-live": "polite" });
      this.plot = html("div", { class: "plot" }, this.svg, this.tip, this.said);
      const controls = html("div", { class: series.length > 1 ? "controls" : "controls bare" }, keys, switches);
      this.host.append(controls, this.plot);
      if (this.data.remark) this.host.append(html("p", { class: "faint remark" }, this.data.remark));
    }

    key(series, index) {
      const sample = element("svg", { width: 30, height: 14, "aria-hidden": "true", class: `s${index % 8}` });
      if (!this.names) sample.append(path("M1 7H29", { class: "line", "stroke-dasharray": dashes(index) }));
      sample.append(mark(index, 15, 7, 4));
      const key = html("button", { type: "button", "aria-pressed": "true",
        title: "Click: on or off. Double click: this one alone, or all." }, sample, series.name);
      const toggle = (hide) => {
        this.hidden = hide;
        for (const [i, button] of [...key.parentNode.children].entries()) {
          button.setAttribute("aria-pressed", String(!hide.has(i)));
        }
        this.draw();
      };
      key.addEventListener("click", () => {
        const hide = new Set(this.hidden);
        if (!hide.delete(index)) hide.add(index);
        toggle(hide);
      });
      key.addEventListener("dblclick", () => {
        const others = this.data.series.map((_, i) => i).filter((i) => i !== index);
        const isAlone = others.every((i) => this.hidden.has(i)) && !this.hidden.has(index);
        toggle(new Set(isAlone ? [] : others));
      });
      key.addEventListener("pointerenter", () => this.stress(index));
      key.addEventListener("pointerleave", () => this.stress(null));
      return key;
    }

    switch(axis) {
      const name = this.names ? "log scale" : `log ${axis}`;
      const button = html("button", { type: "button", "aria-pressed": String(this.log[axis]),
        "aria-label": `${this.data[axis].label}: logarithmic scale` }, name);
      button.addEventListener("click", () => {
        this.log[axis] = !this.log[axis];
        button.setAttribute("aria-pressed", String(this.log[axis]));
        this.draw();
      });
      return button;
    }

    isPositive(axis) {
      const least = (p) => (axis === "x" ? p.x : Math.min(p.y, p.low ?? p.y));
      return this.data.series.every((series) => series.points.every((p) => least(p) > 0));
    }

    shown() {
      return this.data.series.map((series, index) => ({ series, index })).filter(({ index }) => !this.hidden.has(index));
    }

    // A scale of values onto a length from `from` to `to`: all that is shown, zero where it is linear, a margin.
    scale(axis, from, to) {
      const values = [];
      for (const { series } of this.shown()) {
        for (const p of series.points) values.push(...(axis === "x" ? [p.x] : [p.y, p.low ?? p.y, p.high ?? p.y]));
      }
      if (axis === "y") for (const line of this.data.references ?? []) values.push(line.y);
      const isLog = this.log[axis];
      let [low, high] = values.length ? [Math.min(...values), Math.max(...values)] : isLog ? [1, 10] : [0, 1];
      if (isLog) {
        const margin = high > low ? (high / low) ** 0.06 : 2;
        [low, high] = [low / margin, high * margin];
      } else if (axis === "y") {
        low = Math.min(0, low);
        high += (high - low || 1) * 0.06;
      } else {
        const margin = (high - low) * 0.04 || 0.5;
        [low, high] = [low - margin, high + margin];
      }
      const share = (value) => (isLog ? Math.log(value / low) / Math.log(high / low) : (value - low) / (high - low));
      const place = (value) => from + (to - from) * share(value);
      const marks = (room) => (isLog ? decadeMarks : evenMarks)(low, high, room);
      return Object.assign(place, { low, high, isLog, marks });
    }

    // What is being read stays so.
    resize() {
      if (this.width === this.plot.clientWidth) return;
      const at = this.at;
      this.draw();
      this.show(at);
    }

    draw(width = this.plot.clientWidth) {
      if (!width) return;
      this.width = width;
      this.show(null);
      this.points = [];
      const height = this.names ? this.drawBars(width) : this.drawLines(width);
      set(this.svg, { width, height, viewBox: `0 0 ${width} ${height}` }, []);
    }

    drawBars(width) {
      const shown = this.shown();
      const isWide = width >= WIDE;
      const values = shown.flatMap(({ series }) => series.points).map((p) => `${number(p.y)} (${interval(p)})${p.unequal ? " *" : ""}`);
      const left = isWide ? 14 + Math.max(60, ...this.names.map((name) => wide(name, 13))) : 4;
      const right = isWide ? 20 + Math.max(60, ...values.map((words) => wide(words))) : 8;
      // Where there is no room beside a bar, its words stand above it.
      const [bar, step, head] = isWide ? [20, 24, 8] : [14, 38, 4];
      const slot = Math.max(1, shown.length) * step + (isWide ? 12 : 6);
      const bottom = head + this.names.length * slot;
      const px = this.scale("y", left, width - right);
      const grid = element("g", { class: "grid" });
      const words = element("g", { class: "words" });
      for (const tick of px.marks((width - right - left) / 80)) {
        grid.append(path(`M${px(tick)} ${head}V${bottom}`));
        words.append(element("text", { x: px(tick), y: bottom + 18, "text-anchor": "middle" }, markWords(tick)));
      }
      words.append(element("text", { x: (left + width - right) / 2, y: bottom + 42, "text-anchor": "middle", class: "axis" }, axisName(this.data.y)));
      this.svg.replaceChildren(grid, words);
      for (const line of this.data.references ?? []) {
        this.svg.append(path(`M${px(line.y)} ${head}V${bottom}`, { class: "reference" }),
          element("text", { class: "reference", x: px(line.y) + 4, y: head + 8 }, line.label));
      }
      if (isWide) {
        this.names.forEach((name, i) => words.append(
          element("text", { x: left - 10, y: head + (i + 0.5) * slot + 4.5, "text-anchor": "end", class: "name" }, name)));
      }
      shown.forEach(({ series, index }, place) => {
        const group = this.group(index);
        for (const p of series.points) {
          const y = head + p.x * slot + (isWide ? 6 : 0) + (place + 0.5) * step + (isWide ? 0 : 9);
          const x = px(p.y);
          if (!px.isLog) group.append(element("rect", { class: "column", x: px(0), y: y - bar / 2, width: Math.max(0, x - px(0)), height: bar, rx: 2 }));
          if (hasInterval(p)) {
            const [low, high] = [px(p.low), px(p.high)];
            group.append(path(`M${low} ${y}H${high}M${low} ${y - 4}v8M${high} ${y - 4}v8`, { class: px.isLog ? "bar" : "bar ink" }));
          }
          if (px.isLog) group.append(mark(index, x, y, 4.5));
          const name = this.names.length ? this.names[p.x] : "";
          const value = [element("tspan", { class: "value" }, number(p.y)), hasInterval(p) ? ` (${interval(p)})` : "", p.unequal ? " *" : ""];
          if (isWide) words.append(element("text", { x: width - right + 14, y: y + 4.5 }, ...value));
          else {
            words.append(element("text", { x: left, y: y - 12, class: "name" }, shown.length > 1 ? `${name}, ${series.name}` : name),
              element("text", { x: width - right, y: y - 12, "text-anchor": "end" }, ...value));
          }
          this.points.push({ x, y, p, series, index });
        }
        this.svg.append(group);
      });
      // Read from the top down.
      this.points.sort((a, b) => a.y - b.y);
      this.reach = step / 2 + 6;
      this.svg.append(this.makeHalo());
      return bottom + 54;
    }

    drawLines(width) {
      const shown = this.shown();
      const isNamed = width >= WIDE && this.data.series.length > 1;
      const names = this.data.series.map((series) => wide(series.name));
      const right = isNamed ? 44 + Math.min(200, Math.max(...names)) : 14;
      const height = Math.max(isNamed ? shown.length * 17 + 90 : 0, Math.round(Math.min(430, Math.max(310, width * 0.46))));
      // The vertical axis is named above it, where the name can be read.
      const [top, bottom] = [32, height - 48];
      const py = this.scale("y", bottom, top);
      const ticks = py.marks((bottom - top) / 34).map((tick) => [tick, markWords(tick)]);
      const left = 14 + Math.max(18, ...ticks.map(([, words]) => wide(words)));
      const px = this.scale("x", left, width - right);
      const grid = element("g", { class: "grid" });
      const words = element("g", { class: "words" });
      for (const [tick, name] of ticks) {
        grid.append(path(`M${left} ${py(tick)}H${width - right}`));
        words.append(element("text", { x: left - 8, y: py(tick) + 4, "text-anchor": "end" }, name));
      }
      for (const tick of this.places(px)) {
        grid.append(path(`M${px(tick)} ${top}V${bottom}`));
        words.append(element("text", { x: px(tick), y: bottom + 18, "text-anchor": "middle" }, String(tick)));
      }
      words.append(
        element("text", { x: (left + width - right) / 2, y: height - 8, "text-anchor": "middle", class: "axis" }, axisName(this.data.x)),
        element("text", { x: 0, y: 14, class: "axis" }, axisName(this.data.y)));
      this.svg.replaceChildren(grid, words);
      for (const line of this.data.references ?? []) {
        this.svg.append(path(`M${left} ${py(line.y)}H${width - right}`, { class: "reference" }),
          element("text", { class: "reference", x: left + 6, y: py(line.y) - 5 }, line.label));
      }
      for (const { series, index } of shown) {
        const group = this.group(index);
        const at = series.points.map((p) => ({ x: px(p.x), y: py(p.y), p, series, index }));
        group.append(path("M" + at.map((a) => `${a.x} ${a.y}`).join("L"), { class: "line", "stroke-dasharray": dashes(index) }));
        for (const { x, y, p } of at) {
          if (hasInterval(p)) {
            const [low, high] = [py(p.low), py(p.high)];
            group.append(path(`M${x} ${low}V${high}M${x - 4} ${low}h8M${x - 4} ${high}h8`, { class: "bar" }));
          }
          group.append(mark(index, x, y, 4));
          if (p.unequal) words.append(element("text", { class: "unequal", x: x + 6, y: y - 3 }, "*"));
        }
        this.points.push(...at);
        this.svg.append(group);
      }
      if (isNamed) this.nameLines(width - right, top, bottom);
      this.reach = 48;
      this.svg.append(this.makeHalo());
      return height;
    }

    // Where lines have their points, as far as the words do not touch.
    places(px) {
      const named = this.data.x.ticks ?? [];
      const values = named.length ? named : this.shown().flatMap(({ series }) => series.points.map((p) => p.x));
      const places = [...new Set(values)].sort((a, b) => a - b);
      let free = -Infinity;
      return places.filter((value) => {
        const half = wide(String(value)) / 2 + 4;
        if (px(value) - half < free) return false;
        free = px(value) + half;
        return true;
      });
    }

    // Each line is named where it ends.
    nameLines(right, top, bottom) {
      const ends = this.shown().map(({ series, index }) => this.points.findLast((point) => point.index === index && point.series === series));
      const named = ends.filter(Boolean).sort((a, b) => a.y - b.y);
      const places = apart(named.map((end) => end.y), 17, top, bottom);
      named.forEach(({ x, y, series, index }, i) => {
        const group = this.svg.querySelector(`g[data-series="${index}"]`);
        group.append(
          path(`M${x + 7} ${y}L${right + 2} ${y}L${right + 10} ${places[i]}`, { class: "lead" }),
          mark(index, right + 18, places[i], 4),
          element("text", { class: "name", x: right + 28, y: places[i] + 4 }, series.name));
      });
    }

    group(index) {
      return element("g", { class: `series s${index % 8}`, "data-series": index });
    }

    makeHalo() {
      this.halo = element("circle", { class: "halo", r: 9, visibility: "hidden" });
      return this.halo;
    }

    listen() {
      const point = (event) => {
        const at = this.svg.getBoundingClientRect();
        const scale = this.svg.viewBox.baseVal.width / at.width || 1;
        this.show(this.nearest((event.clientX - at.left) * scale, (event.clientY - at.top) * scale));
      };
      this.svg.addEventListener("pointermove", point);
      this.svg.addEventListener("pointerdown", point);
      this.svg.addEventListener("pointerleave", () => this.show(null));
      this.svg.addEventListener("blur", () => this.show(null));
      this.svg.addEventListener("keydown", (event) => {
        if (event.key === "Escape") return this.show(null);
        const next = this.after(event.key);
        if (next === null) return;
        event.preventDefault();
        this.show(next);
        this.said.textContent = [...this.tip.children].map((line) => line.textContent).join(", ");
      });
    }

    nearest(x, y) {
      let best = null;
      this.points.forEach((point, i) => {
        // A bar answers along all its row.
        const distance = this.names ? Math.abs(point.y - y) : Math.hypot(point.x - x, point.y - y);
        if (distance < this.reach && (!best || distance < best.distance)) best = { distance, i };
      });
      return best && best.i;
    }

    // Which point a key leads to; none if the key is not one of ours.
    after(key) {
      const last = this.points.length - 1;
      if (!["ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown", "Home", "End"].includes(key) || last < 0) return null;
      if (key === "Home") return 0;
      if (key === "End") return last;
      const isBack = key === "ArrowLeft" || key === "ArrowUp";
      if (this.at === null) return isBack ? last : 0;
      const here = this.points[this.at];
      // Along a line, or from the value above to the value below at one place.
      const isAcross = !this.names && (key === "ArrowUp" || key === "ArrowDown");
      const isMate = (point) => (isAcross ? point.p.x === here.p.x : this.names || point.index === here.index);
      const mates = this.points.map((point, i) => ({ point, i })).filter(({ point }) => isMate(point));
      if (isAcross) mates.sort((a, b) => a.point.y - b.point.y || a.i - b.i);
      const from = mates.findIndex(({ i }) => i === this.at);
      return mates[(from + (isBack ? -1 : 1) + mates.length) % mates.length].i;
    }

    // Dims all series but one; null brings them back.
    stress(index) {
      this.svg.classList.toggle("stressed", index !== null && this.shown().length > 1);
      for (const group of this.svg.querySelectorAll("g.series")) group.classList.toggle("hot", Number(group.dataset.series) === index);
    }

    show(at) {
      this.at = at;
      const point = at === null ? null : this.points[at];
      this.tip.hidden = !point;
      this.halo?.setAttribute("visibility", point ? "visible" : "hidden");
      this.stress(point ? point.index : null);
      if (!point) return;
      set(this.halo, { cx: point.x, cy: point.y }, []);
      const { x, y } = this.data;
      const where = this.names ? this.names[point.p.x] : `${x.label}: ${point.p.x.toLocaleString("en")} ${x.unit ?? ""}`;
      const lines = [
        html("strong", {}, this.names && this.data.series.length < 2 ? where : point.series.name),
        ...(this.names && this.data.series.length < 2 ? [] : [html("span", {}, where)]),
        html("span", { class: "value" }, `${number(point.p.y)} ${y.unit ?? ""}`),
        ...(hasInterval(point.p) ? [html("span", { class: "interval" }, `interval ${interval(point.p)}`)] : []),
        ...(point.p.unequal ? [html("span", {}, this.data.remark)] : []),
        ...(point.p.note ? [html("em", {}, point.p.note)] : []),
      ];
      this.tip.replaceChildren(...lines);
      const [room, width, height] = [this.plot.clientWidth, this.tip.offsetWidth, this.tip.offsetHeight];
      const left = point.x + 14 + width > room ? point.x - width - 14 : point.x + 14;
      this.tip.style.left = Math.max(0, Math.min(room - width, left)) + "px";
      this.tip.style.top = (point.y - height - 10 < 0 ? point.y + 14 : point.y - height - 10) + "px";
    }
  }

  const figures = [...document.querySelectorAll("figure[data-figure]")].map((host) => new Figure(host));

  // Paper is narrower than a screen, and what is folded up cannot be unfolded on it.
  let unfolded = [];
  addEventListener("beforeprint", () => {
    unfolded = [...document.querySelectorAll("details:not([open])")];
    for (const details of unfolded) details.open = true;
    for (const figure of figures) figure.draw(680);
  });
  addEventListener("afterprint", () => {
    for (const details of unfolded) details.open = false;
    for (const figure of figures) figure.draw();
  });
  document.documentElement.dataset.figures = "drawn";
})();
