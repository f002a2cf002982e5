// Line charts and dot charts in SVG: hover, drag to zoom, logarithmic axes, bands, direct labels.

/**
 * A chart of lines.
 *
 * options.series()   [{name, colour, dash, x, mean, low, high, width, faint, label, alarms}], drawn in order;
 *                    alarms: their number up to each x, marked where it grows
 * options.title, xLabel, yLabel, height, logX, logY, markers (points and bars instead of bands),
 * options.xTicks     exact places of ticks
 * options.ends       whether the vertical axis is that of the intervals, wherever zero is
 */
class LineChart {
  constructor(options) {
    this.options = options;
    this.log = { x: Boolean(options.logX), y: Boolean(options.logY) };
    this.zoom = null;
    this.plot = make("svg", { class: "plot", role: "img", "aria-label": options.title || options.yLabel });
    this.tip = make("div", { class: "tip", hidden: "" });
    this.reset = make("button", { type: "button", class: "button", hidden: "", onclick: () => this.zoomTo(null) }, "reset zoom");
    this.element = make("div", { class: "chart" },
      make("div", { class: "chart-head" }, make("h3", {}, options.title || ""), this.reset,
        toggle("log x", this.log.x, (on) => { this.log.x = on; this.zoomTo(null); }, "Logarithmic horizontal axis"),
        toggle("log y", this.log.y, (on) => { this.log.y = on; this.zoomTo(null); }, "Logarithmic vertical axis")),
      this.plot, this.tip);
    this.plot.addEventListener("pointermove", (event) => this.move(event));
    this.plot.addEventListener("pointerdown", (event) => this.press(event));
    this.plot.addEventListener("pointerup", (event) => this.release(event));
    this.plot.addEventListener("pointerleave", () => this.leave());
    this.plot.addEventListener("pointercancel", () => { this.from = null; this.leave(); });
    this.plot.addEventListener("dblclick", () => this.zoomTo(null));
    new ResizeObserver(() => this.draw()).observe(this.element);
    state.follow(() => this.draw());
  }

  title(text) { this.element.querySelector("h3").textContent = text; }

  zoomTo(box) {
    this.zoom = box;
    this.reset.hidden = !box;
    this.draw();
  }

  /** Ends of both axes for what is shown. */
  limits(series) {
    if (this.zoom) return this.zoom;
    const xs = series.flatMap((line) => line.x);
    const ys = series.flatMap((line) => [...line.mean, ...(this.options.markers || state.bands ? (line.high || []) : [])]);
    const lows = series.flatMap((line) => [...line.mean, ...(this.options.markers || this.options.ends ? (line.low || []) : [])]);
    const good = (values, log) => values.filter((v) => v !== null && Number.isFinite(v) && (!log || v > 0));
    const x = good(xs, this.log.x), y = good(ys, this.log.y), under = good(lows, this.log.y);
    const least = (values) => values.reduce((a, b) => Math.min(a, b), Infinity);
    const most = (values) => values.reduce((a, b) => Math.max(a, b), -Infinity);
    let [x0, x1] = x.length ? [least(x), most(x)] : [0, 1];
    let [y0, y1] = y.length ? [least(under.length ? under : y), most(y)] : [this.log.y ? 0.1 : 0, 1];
    if (this.log.y) {
      y0 = Math.max(y0, y1 * 1e-5) / 1.15; y1 *= 1.15;
      if (y1 / y0 < 10) { const middle = Math.sqrt(y0 * y1); y0 = Math.min(y0, middle / 3.2); y1 = Math.max(y1, middle * 3.2); }
    } else {
      if (!this.options.ends) y0 = Math.min(0, y0);
      y1 += 0.04 * (y1 - y0) || 1;
    }
    if (this.log.x) { if (x1 / x0 < 1.5) { x0 /= 1.5; x1 *= 1.5; } if (this.options.markers) { x0 /= 1.1; x1 *= 1.1; } }
    else { if (x0 > 0) x0 = 0; if (this.options.markers) x1 *= 1.02; if (x1 === x0) x1 = x0 + 1; }
    return { x0, x1, y0, y1 };
  }

  draw() {
    const width = this.element.clientWidth;
    if (!width) return;
    const series = this.options.series();
    const height = this.options.height || 300;
    const names = series.filter((line) => line.label);
    const room = width >= 420 && names.length * 13 <= height - 40;
    const longest = names.reduce((most, line) => Math.max(most, line.label.length), 0);
    const right = room ? Math.min(0.38 * width, 14 + 7 * longest) : 12;
    const { x0, x1, y0, y1 } = this.limits(series);
    const frame = { left: 52, top: 8, right: width - right, bottom: height - 38 };
    const x = scale(x0, x1, frame.left, frame.right, this.log.x);
    const y = scale(y0, y1, frame.bottom, frame.top, this.log.y);
    Object.assign(this, { series, frame, x, y, width, height });
    const clip = `clip-${LineChart.count += 1}`;
    this.plot.setAttribute("viewBox", `0 0 ${width} ${height}`);
    this.plot.setAttribute("height", height);
    this.over = make("g");
    const inside = make("g", { "clip-path": `url(#${clip})` });
    for (const line of series) this.drawLine(inside, line);
    this.plot.replaceChildren(
      make("defs", {}, make("clipPath", { id: clip }, make("rect", { x: frame.left - (this.zoom ? 0 : 5), y: frame.top - 4, width: Math.max(0, frame.right - frame.left + 10), height: frame.bottom - frame.top + 5 }))),
      this.axes(), inside, room ? this.names(names) : make("g"), this.over);
  }

  axes() {
    const { frame, x, y } = this;
    const group = make("g");
    for (const value of ticks(y.low, y.high, 5, y.log)) {
      const at = y(value);
      group.append(make("line", { class: "grid", x1: frame.left, x2: frame.right, y1: at, y2: at }),
        make("text", { x: frame.left - 8, y: at + 4, "text-anchor": "end" }, tickText(value)));
    }
    const across = (frame.right - frame.left) / (x.log ? 62 : 76);
    const given = this.options.xTicks && !this.zoom ? this.options.xTicks.filter((value) => value > 0 || !x.log) : null;
    for (const value of given || ticks(x.low, x.high, across, x.log)) {
      const at = x(value);
      group.append(make("line", { class: "axis", x1: at, x2: at, y1: frame.bottom, y2: frame.bottom + 4 }),
        make("text", { x: at, y: frame.bottom + 17, "text-anchor": "middle" }, tickText(value)));
    }
    group.append(make("line", { class: "axis", x1: frame.left, x2: frame.right, y1: frame.bottom, y2: frame.bottom }),
      make("text", { x: frame.right, y: frame.bottom + 33, "text-anchor": "end" }, this.options.xLabel || ""),
      make("text", { x: frame.left, y: frame.bottom + 33 }, this.options.yLabel ? `↑ ${this.options.yLabel}` : ""));
    return group;
  }

  drawLine(group, line) {
    const { x, y } = this;
    const at = (i, values) => `${x(line.x[i]).toFixed(1)},${y(values[i]).toFixed(1)}`;
    const known = line.mean.map((_, i) => i).filter((i) => line.mean[i] !== null && (!x.log || line.x[i] > 0));
    if (!known.length) return;
    if (!this.options.markers && state.bands && line.high && !line.faint) {
      const there = known.filter((i) => line.high[i] !== null && line.low[i] !== null);
      const d = [...there.map((i) => at(i, line.high)), ...there.reverse().map((i) => at(i, line.low))].join("L");
      if (d) group.append(make("path", { d: `M${d}Z`, fill: line.colour, "fill-opacity": 0.13, class: "band" }));
    }
    group.append(make("path", { d: `M${known.map((i) => at(i, line.mean)).join("L")}`, class: "curve", stroke: line.colour,
      "stroke-width": line.width || 2, "stroke-dasharray": line.dash || null, "stroke-opacity": line.faint ? 0.4 : 1, "data-name": line.name }));
    for (const i of line.alarms ? known.filter((i) => line.alarms[i] > (i ? line.alarms[i - 1] : 0)) : []) {
      const [px, py] = [x(line.x[i]), y(line.mean[i])];
      group.append(make("path", { d: `M${px - 4},${py - 4}h8l-4,8Z`, class: "alarm", stroke: line.colour }));
    }
    if (!this.options.markers) return;
    for (const i of known) {
      const place = x(line.x[i]);
      if (line.high && line.high[i] !== null) group.append(make("line", { x1: place, x2: place, y1: y(line.low[i]), y2: y(line.high[i]), stroke: line.colour, "stroke-width": 1.2 }));
      group.append(make("circle", { cx: place, cy: y(line.mean[i]), r: 3.4, fill: line.colour }));
    }
  }

  names(lines) {
    const { frame, x, y } = this;
    const ends = [];
    for (const line of lines) {
      const within = line.mean.map((_, i) => i).filter((i) => line.mean[i] !== null && line.x[i] <= x.high * (1 + 1e-9) && line.x[i] >= x.low);
      if (!within.length) continue;
      const last = within[within.length - 1];
      const at = y(line.mean[last]);
      if (at >= frame.top - 6 && at <= frame.bottom + 6) ends.push({ at, left: this.zoom ? Math.min(x(line.x[last]), frame.right) : frame.right, line });
    }
    ends.sort((a, b) => a.at - b.at);
    const places = spread(ends.map((end) => end.at), 13.5, frame.top + 2, frame.bottom);
    return make("g", {}, ends.map(({ left, line }, i) =>
      make("text", { class: "name", x: left + 8, y: places[i] + 4, style: `--own:${line.colour}` }, line.label)));
  }

  /** Pointer -> place in the drawing. */
  place(event) {
    const box = this.plot.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  }

  press(event) {
    if (event.pointerType === "touch" || event.button) return;
    this.from = this.place(event);
    this.plot.setPointerCapture(event.pointerId);
  }

  release(event) {
    const { from, x, y, frame } = this;
    this.from = null;
    if (!from) return;
    const to = this.place(event);
    const [left, right] = [from[0], to[0]].sort((a, b) => a - b).map((p) => Math.min(Math.max(p, frame.left), frame.right));
    const [top, bottom] = [from[1], to[1]].sort((a, b) => a - b).map((p) => Math.min(Math.max(p, frame.top), frame.bottom));
    if (right - left < 8) { this.over.replaceChildren(); return; }
    // A flat box means: these rounds, at any height.
    const tall = bottom - top >= 12;
    this.zoomTo({ x0: x.inverse(left), x1: x.inverse(right), y0: tall ? y.inverse(bottom) : y.low, y1: tall ? y.inverse(top) : y.high });
  }

  leave() {
    if (this.from) return;
    this.tip.hidden = true;
    if (this.over) this.over.replaceChildren();
  }

  move(event) {
    if (!this.series) return;
    const [px, py] = this.place(event);
    const { frame, x, y, series } = this;
    if (this.from) {
      const [fx, fy] = this.from;
      this.tip.hidden = true;
      const tall = Math.abs(py - fy) >= 12;
      this.over.replaceChildren(make("rect", { class: "box", x: Math.min(fx, px), width: Math.abs(px - fx),
        y: tall ? Math.min(fy, py) : frame.top, height: tall ? Math.abs(py - fy) : frame.bottom - frame.top }));
      return;
    }
    let nearest = null;
    for (const line of series) for (const value of line.x) {
      const far = Math.abs(x(value) - px);
      if (value >= x.low && value <= x.high * (1 + 1e-9) && (!nearest || far < nearest.far)) nearest = { far, value };
    }
    if (!nearest || px < frame.left - 20 || px > frame.right + 20) return this.leave();
    const at = nearest.value;
    const here = [];
    for (const line of series) {
      const i = line.x.indexOf(at);
      if (i >= 0 && line.mean[i] !== null) here.push({ line, i, far: Math.abs(y(line.mean[i]) - py) });
    }
    const closest = here.reduce((best, one) => (!best || one.far < best.far ? one : best), null);
    const listed = here.slice().sort((a, b) => a.far - b.far).slice(0, 12).sort((a, b) => b.line.mean[b.i] - a.line.mean[a.i]);
    this.over.replaceChildren(make("line", { class: "cursor", x1: x(at), x2: x(at), y1: frame.top, y2: frame.bottom }),
      ...listed.filter(({ line, i }) => line.mean[i] >= y.low && line.mean[i] <= y.high).map(({ line, i }) =>
        make("circle", { cx: x(at), cy: y(line.mean[i]), r: 3.6, fill: line.colour, stroke: "var(--card)", "stroke-width": 1.4 })));
    const rest = here.length - listed.length;
    this.tip.replaceChildren(make("b", {}, this.options.tipTitle ? this.options.tipTitle(at) : `${this.options.xLabel} ${show(at, 5)}`),
      make("table", {}, listed.map(({ line, i }) => make("tr", { class: closest && line === closest.line ? "near" : null },
        make("td", {}, make("i", { style: `background:${line.colour}` }), line.name),
        make("td", {}, show(line.mean[i])),
        make("td", {}, line.high && line.high[i] !== null && !line.faint ? `${show(line.low[i])} – ${show(line.high[i])}` : "")))),
      rest > 0 ? make("div", { style: "color:var(--pale)" }, `and ${rest} more`) : "");
    this.tip.hidden = false;
    const width = this.tip.offsetWidth;
    const left = x(at) + 16 + width < this.width ? x(at) + 16 : Math.max(0, x(at) - width - 16);
    const above = this.plot.getBoundingClientRect().top - this.element.getBoundingClientRect().top;
    this.tip.style.transform = `translate(${left}px, ${above + Math.max(0, Math.min(py - 30, this.height - 60))}px)`;
  }
}
LineChart.count = 0;

/** A chart of dots: a row per policy, a dot per problem; rows: [{policy, dots: [{value, low, high, name}], mark}]. */
class DotChart {
  constructor(options) {
    this.options = options;
    this.plot = make("svg", { class: "plot", role: "img", "aria-label": options.label });
    this.tip = make("div", { class: "tip", hidden: "" });
    this.element = make("div", { class: "chart" }, this.plot, this.tip);
    new ResizeObserver(() => this.draw()).observe(this.element);
    state.follow(() => this.draw());
  }

  draw() {
    const width = this.element.clientWidth;
    if (!width) return;
    const rows = this.options.rows();
    const step = 24;
    const height = rows.length * step + 44;
    const longest = rows.reduce((most, row) => Math.max(most, POLICIES[row.policy].name.length), 0);
    const left = Math.min(20 + 6.8 * longest, width * 0.42);
    const values = rows.flatMap((row) => row.dots.flatMap((d) => [d.value, d.low ?? d.value, d.high ?? d.value]));
    const [low, high] = this.options.limits || [Math.min(...values) / 1.3, Math.max(...values) * 1.3];
    const x = scale(low, high, left, width - 24, this.options.log);
    const group = make("g");
    for (const value of ticks(low, high, (width - left) / 76, this.options.log)) {
      group.append(make("line", { class: "grid", x1: x(value), x2: x(value), y1: 4, y2: height - 36 }),
        make("text", { x: x(value), y: height - 20, "text-anchor": "middle" }, this.options.text(value)));
    }
    group.append(make("text", { x: width - 24, y: height - 3, "text-anchor": "end" }, this.options.label));
    rows.forEach((row, i) => {
      const y = 4 + step * (i + 0.5);
      const name = POLICIES[row.policy].name;
      const most = Math.floor((left - 14) / 6.6);
      group.append(make("line", { class: "grid", x1: left, x2: width - 24, y1: y, y2: y }),
        make("text", { x: left - 12, y: y + 4, "text-anchor": "end" }, name.length > most ? `${name.slice(0, most - 1)}…` : name));
      if (row.mark) group.append(make("line", { x1: x(row.mark), x2: x(row.mark), y1: y - 9, y2: y + 9, stroke: "var(--pale)", "stroke-width": 2 }));
      for (const d of row.dots) {
        if (d.low !== undefined && d.low !== null) group.append(make("line", { x1: x(d.low), x2: x(d.high), y1: y, y2: y, stroke: colourOf(row.policy), "stroke-width": 1.4 }));
        group.append(make("circle", { cx: x(d.value), cy: y, r: 5, fill: colourOf(row.policy), "fill-opacity": 0.75, stroke: "var(--card)",
          onpointerenter: () => this.say(x(d.value), y, `${name} · ${d.name}`, this.options.text(d.value)), onpointerleave: () => { this.tip.hidden = true; } }));
      }
    });
    this.plot.setAttribute("viewBox", `0 0 ${width} ${height}`);
    this.plot.setAttribute("height", height);
    this.plot.replaceChildren(group);
    this.width = width;
  }

  say(x, y, title, text) {
    this.tip.replaceChildren(make("b", {}, title), text);
    this.tip.hidden = false;
    const left = x + 14 + this.tip.offsetWidth < this.width ? x + 14 : Math.max(0, x - this.tip.offsetWidth - 14);
    this.tip.style.transform = `translate(${left}px, ${y + 8}px)`;
  }
}

/** Chips that show and hide policies everywhere; a double click leaves one alone. */
function legend(...extras) {
  const host = make("div", { class: "legend", role: "group", "aria-label": "Policies shown" });
  const present = POLICIES.map((_, policy) => policy).filter((policy) => ROWS.some((row) => row.policy === policy));
  const set = (hidden) => { state.hidden = new Set(hidden); state.changed(); };
  const chips = present.map((policy) => make("button", { type: "button", "data-policy": POLICIES[policy].name,
    onclick: () => { const hidden = new Set(state.hidden); if (!hidden.delete(policy)) hidden.add(policy); set(hidden); },
    ondblclick: () => set(present.filter((other) => other !== policy)),
  }, swatch(policy), POLICIES[policy].name));
  host.append(...chips);
  if (present.length > 3) host.append(make("span", { style: "white-space:nowrap" },
    make("button", { type: "button", class: "aside", onclick: () => set([]) }, "all"),
    make("button", { type: "button", class: "aside", onclick: () => set(present) }, "none")));
  host.append(...extras);
  const draw = () => chips.forEach((chip, i) => chip.setAttribute("aria-pressed", String(!state.hidden.has(present[i]))));
  state.follow(draw);
  draw();
  return host;
}
