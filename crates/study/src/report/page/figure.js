// Adds to the drawings of each <figure data-figure="ID"> what a picture cannot do: descriptions of points for a
// pointer, a finger and a keyboard, series that can be put aside, and the other scale, which is another drawing. It
// draws nothing: without it the page has the same charts, and the browser shows the same descriptions. No network, no
// library.
"use strict";
(() => {
  const set = (node, attributes) => {
    for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
    return node;
  };
  const html = (name, attributes, ...children) => {
    const node = set(document.createElement(name), attributes);
    node.append(...children);
    return node;
  };

  class Figure {
    constructor(host) {
      this.host = host;
      this.plot = host.querySelector(".plot");
      this.drawings = [...host.querySelectorAll(".drawing")];
      this.scale = this.drawings[0].dataset.scale;
      this.isBars = this.drawings[0].firstElementChild.classList.contains("bars");
      // Every drawing has the same points in the same order; the first one has their descriptions.
      this.words = [...this.drawings[0].querySelectorAll(".point > title")].map((title) => {
        title.remove();
        return title.textContent.split("\n");
      });
      this.series = [...this.drawings[0].querySelectorAll(".series")].map((group) => group.dataset.name);
      this.hidden = new Set();
      this.at = null;
      this.tip = html("div", { class: "tip", "aria-hidden": "true", hidden: "" });
      // What a screen reader says; hovering stays silent.
      this.said = html("div", { class: "unseen", role: "status", "aria-live": "polite" });
      this.plot.append(this.tip, this.said);
      this.controls();
      for (const drawing of this.drawings) this.listen(drawing.firstElementChild);
      addEventListener("resize", () => this.show(null));
    }

    // The drawing that is seen at this width and on this scale.
    get svg() {
      return (this.drawings.find((drawing) => drawing.offsetParent) ?? this.drawings[0]).firstElementChild;
    }

    // Pixels of the page for each of the drawing.
    get zoom() {
      return this.svg.getBoundingClientRect().width / this.svg.viewBox.baseVal.width;
    }

    controls() {
      const keys = this.series.map((name, index) => this.key(name, index));
      const switches = this.drawings.some((drawing) => drawing.hidden) ? [this.switch()] : [];
      this.host.prepend(html("div", { class: keys.length ? "controls" : "controls bare" },
        html("div", { class: "keys", role: "group", "aria-label": "Series" }, ...keys),
        html("div", { class: "switches" }, ...switches)));
    }

    key(name, index) {
      const colour = this.drawings[0].querySelectorAll(".series > g")[index].classList[0];
      const key = html("button", { type: "button", "aria-pressed": "true",
        title: "Click: on or off. Double click: this one alone, or all." }, html("i", { class: `swatch ${colour}` }), name);
      const put = (hidden) => {
        this.hidden = hidden;
        [...key.parentNode.children].forEach((button, i) => button.setAttribute("aria-pressed", String(!hidden.has(i))));
        for (const drawing of this.drawings) {
          drawing.querySelectorAll(".series").forEach((group, i) => group.classList.toggle("off", hidden.has(i)));
        }
      };
      key.addEventListener("click", () => {
        const hidden = new Set(this.hidden);
        if (!hidden.delete(index)) hidden.add(index);
        put(hidden);
      });
      key.addEventListener("dblclick", () => {
        const others = this.series.map((_, i) => i).filter((i) => i !== index);
        const isAlone = others.every((i) => this.hidden.has(i)) && !this.hidden.has(index);
        put(new Set(isAlone ? [] : others));
      });
      key.addEventListener("pointerenter", () => this.stress(index));
      key.addEventListener("pointerleave", () => this.stress(null));
      return key;
    }

    switch() {
      const button = html("button", { type: "button", "aria-pressed": String(this.scale === "log"),
        "aria-label": "Values on a logarithmic scale" }, "log scale");
      button.addEventListener("click", () => {
        this.show(null);
        this.scale = this.scale === "log" ? "linear" : "log";
        button.setAttribute("aria-pressed", String(this.scale === "log"));
        for (const drawing of this.drawings) drawing.hidden = drawing.dataset.scale !== this.scale;
      });
      return button;
    }

    listen(svg) {
      const reading = this.isBars ? "Arrow keys read the values." : "Left and right read a line, up and down change it.";
      const label = `${svg.getAttribute("aria-label")} ${reading}`;
      set(svg, { tabindex: 0, role: "application", "aria-roledescription": "interactive figure", "aria-label": label });
      const point = (event) => {
        const box = svg.getBoundingClientRect();
        const { x, y } = svg.viewBox.baseVal;
        this.show(this.nearest((event.clientX - box.left) / this.zoom + x, (event.clientY - box.top) / this.zoom + y));
      };
      for (const name of ["pointermove", "pointerdown"]) svg.addEventListener(name, point);
      for (const name of ["pointerleave", "blur"]) svg.addEventListener(name, () => this.show(null));
      svg.addEventListener("keydown", (event) => {
        if (event.key === "Escape") return this.show(null);
        const next = this.after(event.key);
        if (next === null) return;
        event.preventDefault();
        this.show(next);
        this.said.textContent = [...this.tip.children].map((line) => line.textContent).join(", ");
      });
    }

    // The points that are seen: place in the order of all, group, coordinates, series.
    points() {
      const groups = [...this.svg.querySelectorAll(".series")];
      const points = [...this.svg.querySelectorAll(".point")].map((node, i) => {
        const [x, y] = node.dataset.at.split(" ").map(Number);
        return { i, node, x, y, series: groups.indexOf(node.closest(".series")) };
      });
      return points.filter((point) => !this.hidden.has(point.series));
    }

    nearest(x, y) {
      let best = null;
      for (const point of this.points()) {
        // A bar answers along all its row.
        const distance = this.isBars ? Math.abs(point.y - y) : Math.hypot(point.x - x, point.y - y);
        if (distance < (this.isBars ? 20 : 48) && !(distance >= best?.distance)) best = { distance, i: point.i };
      }
      return best && best.i;
    }

    // Which point a key leads to; none if the key is not one of ours.
    after(key) {
      const points = this.points();
      if (!["ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown", "Home", "End"].includes(key) || !points.length) return null;
      if (key === "Home") return points[0].i;
      if (key === "End") return points.at(-1).i;
      const isBack = key === "ArrowLeft" || key === "ArrowUp";
      const here = points.find((point) => point.i === this.at);
      if (!here) return (isBack ? points.at(-1) : points[0]).i;
      // Along a line, or from the value above to the value below at one place.
      const isAcross = !this.isBars && (key === "ArrowUp" || key === "ArrowDown");
      const mates = points.filter((point) => (isAcross ? point.x === here.x : point.series === here.series));
      if (isAcross) mates.sort((a, b) => a.y - b.y || a.i - b.i);
      return mates[(mates.indexOf(here) + (isBack ? -1 : 1) + mates.length) % mates.length].i;
    }

    // Dims all series but one; null brings them back.
    stress(index) {
      for (const drawing of this.drawings) {
        drawing.classList.toggle("stressed", index !== null && index >= 0);
        drawing.querySelectorAll(".series").forEach((group, i) => group.classList.toggle("hot", i === index));
      }
    }

    show(at) {
      const point = at === null ? undefined : this.points().find((point) => point.i === at);
      this.at = point ? at : null;
      this.tip.hidden = !point;
      for (const node of this.plot.querySelectorAll(".point.hot")) node.classList.remove("hot");
      this.stress(point ? point.series : null);
      if (!point) return;
      point.node.classList.add("hot");
      this.tip.replaceChildren(...this.words[at].map((line, i) => html(i ? "span" : "strong", {}, line)));
      const origin = this.svg.viewBox.baseVal;
      const [x, y, space] = [(point.x - origin.x) * this.zoom, (point.y - origin.y) * this.zoom, this.plot.clientWidth];
      const [width, height] = [this.tip.offsetWidth, this.tip.offsetHeight];
      const left = x + 14 + width > space ? x - width - 14 : x + 14;
      this.tip.style.left = Math.max(0, Math.min(space - width, left)) + "px";
      this.tip.style.top = (y - height - 10 < 0 ? y + 14 : y - height - 10) + "px";
    }
  }

  for (const host of document.querySelectorAll("figure[data-figure]")) new Figure(host);

  // What is folded up cannot be unfolded on paper.
  let unfolded = [];
  const open = (isOpen) => unfolded.forEach((details) => (details.open = isOpen));
  addEventListener("beforeprint", () => { unfolded = [...document.querySelectorAll("details:not([open])")]; open(true); });
  addEventListener("afterprint", () => open(false));
  document.documentElement.dataset.figures = "ready";
})();
