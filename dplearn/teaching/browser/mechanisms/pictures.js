// Five linked panels of one pair: laws, loss, delta, Renyi divergence, trade-off.
import { clamp, digits, percent, text, ticks } from "../page/numbers.js";
import { area, axis, clipping, el, grid, pill, pillAt, set, setAll, straight } from "../page/shapes.js";
import { improved } from "../renyi.js";
import { ORDERS } from "./pair.js";

/** The number that the handle of each panel sets. */
export const SETS = { outputs: "epsilon", loss: "epsilon", delta: "epsilon", renyi: "order", tradeoff: "false_positive_rate" };
export const NAMES = Object.keys(SETS);
// Delta is drawn down to this part of its maximum.
const DEPTH = 1e-6;
const POINTS = 120;
const MARGIN = { left: 56, right: 12, above: 34, below: 44 };

export class Pictures {
  constructor(words) {
    this.words = words;
    this.svg = el("svg", { class: "dp-svg", role: "group", "aria-label": words.picture });
    this.of = Object.fromEntries(NAMES.map((name) => [name, new Panel(this.svg, name, words.handles[name])]));
    this.withLaws = true;
  }

  /** Place the panels, with or without that of the laws, in two rows with a free box of `room` by `high` pixels at the end,
   * or in one column on a phone. */
  place(width, height, [room, high], withLaws) {
    this.withLaws = withLaws;
    set(this.of.outputs.group, "visibility", withLaws ? null : "hidden");
    const names = withLaws ? NAMES : NAMES.slice(1);
    const rows = width < 560 ? names.map((name) => [name]) : [names.slice(0, -3), names.slice(-3)];
    const second = Math.max(0.53 * height, high);
    const tall = rows.length === 2 ? [Math.max(height - second, 230), second] : rows.map(() => 250);
    let y = 0;
    rows.forEach((row, i) => {
      const wide = (width - (row.length === 3 ? room : 0)) / row.length;
      row.forEach((name, j) => this.of[name].place({ x: j * wide, y, width: wide, height: tall[i] }));
      y += tall[i];
    });
    setAll(this.svg, { viewBox: `0 0 ${width} ${y}`, width, height: y });
  }

  spans({ pair, epsilon, logDelta, divergence, converted }) {
    const { outputs } = pair.law;
    const top = outputs ? Math.max(...outputs.p, ...outputs.q) : 1;
    const seen = outputs ? outputs.x.filter((_, i) => Math.max(outputs.p[i], outputs.q[i]) > 1e-3 * top) : [0, 1];
    const pad = outputs?.whole ? 0.6 * (outputs.x[1] - outputs.x[0]) : 0;
    const { edges, bins } = pair.losses(epsilon);
    const whole = Math.exp(pair.total);
    const least = Math.max(Math.min(DEPTH * whole, logDelta > -Infinity ? 0.3 * Math.exp(logDelta) : whole), 1e-250);
    const levels = [divergence, converted, epsilon, pair.divergences[0]].filter((v) => v > 0 && v < Infinity);
    return [
      [{ low: seen[0] - pad, high: seen.at(-1) + pad }, { low: 0, high: 1.12 * top }],
      [{ low: edges[0], high: edges.at(-1) }, { low: 0, high: 1.12 * Math.max(...bins.map((bin) => bin.mass)) }],
      [{ low: 0, high: Math.max(pair.reach, 1.25 * epsilon) }, { low: least, high: Math.min(2 * whole, 1.5), log: true }],
      [{ low: ORDERS[0], high: ORDERS.at(-1), log: true }, { low: Math.max(Math.min(...levels), 1e-12) / 2, high: 6 * Math.max(...levels), log: true }],
      [{ low: 0, high: 1 }, { low: 0, high: 1 }],
    ];
  }

  draw(view, spans) {
    NAMES.forEach((name, i) => this.of[name].frame(spans[i], { ...this.words.axes[name](view), title: this.words.titles[name](view), bare: name === "outputs" || name === "loss" }));
    if (this.withLaws) this.drawOutputs(view);
    this.drawLoss(view);
    this.drawDelta(view);
    this.drawRenyi(view);
    this.drawTradeoff(view);
  }

  drawOutputs({ pair, epsilon, role }) {
    const panel = this.of.outputs;
    const { x, p, q, whole } = pair.law.outputs;
    const factor = Math.exp(epsilon);
    const scaled = q.map((value) => Math.min(factor * value, 1e6 * panel.y.high));
    const covered = p.map((value, i) => Math.min(value, scaled[i]));
    const half = 0.5 * (x[1] - x[0]);
    const stairs = (values) => panel.line(x.flatMap((at, i) => [[at - half, values[i]], [at + half, values[i]]]));
    const bars = (low, high) => panel.bars(x.map((at, i) => [at - 0.75 * half, at + 0.75 * half, low[i], high[i]]));
    const curve = (values) => (whole ? stairs(values) : panel.curve(x, values));
    panel.fill({
      law: whole ? bars(x.map(() => 0), covered) : curve(p),
      leak: whole ? bars(covered, p) : `${panel.curve([...x, ...x.toReversed()], [...p, ...covered.toReversed()])}Z`,
      other: curve(q),
      scaled: curve(scaled),
    }, this.lawNames(pair.law.outputs, scaled, epsilon, this.words.laws[role]));
    set(panel.group, "class", `dp-panel dp-at-outputs${whole ? " dp-whole" : ""}`);
  }

  /** Return the labels of P and Q, placed on the outer sides of their laws to avoid overlap. */
  lawNames({ x, p, q }, scaled, epsilon, words) {
    const panel = this.of.outputs;
    const peak = (values) => x[values.indexOf(Math.max(...values))];
    const after = peak(p) >= peak(q);
    const name = (kind, values, height, right, said) => {
      const all = x.map((_, i) => i).filter((i) => values[i] >= height);
      const i = right ? all.at(-1) : all[0];
      if (i === undefined) return "";
      const at = clamp(panel.x.at(x[i]) + (right ? 9 : -9), panel.sides.left + (right ? 0 : 40), panel.sides.right - (right ? 60 : 0));
      return panel.label(kind, at, panel.y.at(height), said, { "text-anchor": right ? "start" : "end" });
    };
    const [tallP, tallQ] = [Math.max(...p), Math.max(...q)];
    return [
      name("p", p, 0.82 * tallP, after, words[0]),
      name("q", q, 0.42 * tallQ, !after, words[1]),
      name("scaled", scaled, 0.93 * panel.y.high, !after, epsilon > 0.25 ? "eᵋ·Q" : ""),
    ];
  }

  drawLoss({ pair, epsilon, state }) {
    const panel = this.of.loss;
    const { edges, bins } = pair.losses(epsilon);
    const gap = 0.08 * (edges[1] - edges[0]);
    const bars = (ends) => panel.bars(bins.map((bin, i) => [edges[i] + gap, edges[i + 1] - gap, ...ends(bin)]));
    panel.fill({
      law: bars((bin) => [0, bin.above ? 0 : bin.mass]),
      uncounted: bars((bin) => (bin.above ? [bin.counted, Math.max(bin.mass, bin.counted)] : [0, 0])),
      leak: bars((bin) => [0, bin.counted]),
    });
    panel.hold(epsilon, `ε = ${text(state.epsilon)}`);
  }

  drawDelta({ pair: { law }, epsilon, logDelta, state }) {
    const panel = this.of.delta;
    const { high } = panel.x;
    const at = Array.from({ length: POINTS + 1 }, (_, i) => (high * i) / POINTS);
    panel.fill({
      real: panel.curve(law.real?.epsilons, law.real?.deltas),
      curve: panel.curve(at, at.map((x) => Math.exp(law.logDelta(x)))),
    }, [panel.dot("delta", epsilon, Math.max(Math.exp(logDelta), panel.y.low))]);
    panel.hold(epsilon, `ε = ${text(state.epsilon)}`);
  }

  drawRenyi({ pair, epsilon, logDelta, divergence, converted, state }) {
    const panel = this.of.renyi;
    const early = Math.round(0.12 * ORDERS.length);
    panel.fill({
      level: panel.line([[panel.x.low, epsilon], [panel.x.high, epsilon]]),
      divergence: panel.curve(ORDERS, pair.divergences),
      curve: panel.curve(ORDERS, ORDERS.map((order, i) => Math.max(improved(order, pair.divergences[i], logDelta), 0))),
    }, [
      panel.label("divergence", panel.x.at(ORDERS[early]) + 8, panel.y.at(pair.divergences[early]) + 14, "D(α)"),
      panel.dot("renyi", state.order, divergence),
      panel.dot("renyi", state.order, converted),
    ]);
    panel.hold(state.order, `α = ${text(state.order)}`);
  }

  drawTradeoff({ pair, epsilon, logDelta, true_positive_rate, state }) {
    const panel = this.of.tradeoff;
    const { rates, misses, law: { real, logDeltaReversed } } = pair;
    const rate = state.false_positive_rate;
    const [steep, other] = [-Math.expm1(logDelta), -Math.expm1(logDeltaReversed?.(epsilon) ?? logDelta)];
    const flat = Math.exp(-epsilon);
    panel.fill({
      ground: `${panel.curve([...rates, 1, 0], [...misses, 0, 0])}Z`,
      guessing: panel.line([[0, 1], [1, 0]]),
      real: panel.curve(real?.rates, real?.misses),
      curve: panel.curve(rates, misses),
      // The two (epsilon, delta) lines, tangent to the trade-off curve from below.
      touching: panel.line([[0, steep], [steep * flat, 0]]) + panel.line([[0, other * flat], [other, 0]]),
    }, [
      panel.label("guessing", panel.x.at(0.55) + 4, panel.y.at(0.45) - 6, this.words.guessing),
      panel.dot("tradeoff", rate, 1 - true_positive_rate),
    ]);
    panel.hold(rate, percent(digits(rate, 3)));
  }

  /** Return the epsilon at which e^epsilon Q passes through a point. */
  epsilonAt(x, y, outputs) {
    const panel = this.of.outputs;
    const place = panel.x.value(x);
    const i = clamp(outputs.x.findIndex((at) => at >= place), 1, outputs.x.length - 1);
    const [a, b] = [outputs.x[i - 1], outputs.x[i]];
    const near = outputs.whole ? outputs.q[b - place < place - a ? i : i - 1] : outputs.q[i - 1] + ((outputs.q[i] - outputs.q[i - 1]) * (place - a)) / (b - a);
    return Math.log(panel.y.value(y) / near);
  }
}

/** One of the five panels: axes, title, curves and marks. */
class Panel {
  /** A drag anywhere in the panel moves its handle. */
  constructor(svg, name, label) {
    const { rect, defs, inside } = clipping();
    this.clip = rect;
    this.behind = el("g");
    this.inside = el("g", inside);
    this.marks = el("g", { class: "dp-marks" });
    this.handle = el("g", { class: "dp-handle", "data-drag": name, role: "slider", tabindex: 0, "aria-label": label },
      el("rect", { class: "dp-area" }), el("line", { class: "dp-here" }), ...pill());
    this.group = el("g", { class: `dp-panel dp-at-${name}` }, defs, this.behind, this.inside, this.marks, this.handle);
    svg.append(this.group);
  }

  place({ x, y, width, height }) {
    this.sides = { left: x + MARGIN.left, right: x + width - MARGIN.right, top: y + MARGIN.above, bottom: y + height - MARGIN.below };
    setAll(this.clip, area(this.sides));
    setAll(this.handle.firstChild, area({ ...this.sides, bottom: this.sides.bottom + MARGIN.below - 16 }));
  }

  /** Draw axes of these spans with their labels; `bare` leaves out the ticks of y. */
  frame([spanX, spanY], { title, x, y, bare = false }) {
    const { left, right, top, bottom } = this.sides;
    this.x = axis(spanX, left, right);
    this.y = axis(spanY, bottom, top);
    const turned = `translate(${left - 47} ${(top + bottom) / 2}) rotate(-90)`;
    this.behind.replaceChildren(
      ...grid(this.x, this.y, this.sides, written(spanX, (right - left) / 70), bare ? [] : written(spanY, (bottom - top) / 40)),
      el("text", { class: "dp-title", x: left - 4, y: top - 14 }, title),
      el("text", { class: "dp-scale", "text-anchor": "end", x: right, y: bottom + 37 }, x),
      el("text", { class: "dp-scale", "text-anchor": "middle", transform: turned }, y),
    );
  }

  /** Draw curves, by kind, inside the axes, and marks above them. */
  fill(curves, marks = []) {
    this.inside.replaceChildren(...Object.entries(curves).map(([kind, d]) => el("path", { class: `dp-${kind}`, d })));
    this.marks.replaceChildren(...marks);
  }

  label(kind, x, y, words, more = {}) {
    return el("text", { class: `dp-label dp-${kind}`, x, y, ...more }, words);
  }

  /** Return a dot at (x, y), moved to the edge if slightly outside; "" if far outside. */
  dot(name, x, y) {
    const { left, right, top, bottom } = this.sides;
    const [across, up] = [this.x.at(x), this.y.at(y)];
    if (!(across >= left - 1 && across <= right + 1 && up >= top - 1)) return "";
    return el("circle", { class: `dp-dot dp-dot-${name}`, r: 5.5, cx: clamp(across, left, right), cy: clamp(up, top, bottom) });
  }

  /** Place the handle's line at a value of the x axis, with its label. */
  hold(value, words) {
    const { left, right, top, bottom } = this.sides;
    const x = clamp(this.x.at(value), left, right);
    const width = 8.2 * words.length + 18;
    const centre = clamp(x, left + width / 2 - 30, right - width / 2 + 8);
    pillAt([...this.handle.children].slice(1), { x1: x, x2: x, y1: top, y2: bottom }, [centre, bottom + 16], width, words);
  }

  /** Return the path through points [x, y], interrupted at values that are not finite. */
  line(points) {
    const parts = [[]];
    for (const [x, y] of points) {
      const place = [this.x.at(x), this.y.at(y)];
      if (place.every(Number.isFinite)) parts.at(-1).push(place);
      else parts.push([]);
    }
    return parts.map(straight).join("");
  }

  curve(xs = [], ys = []) {
    return this.line(xs.map((x, i) => [x, ys[i]]));
  }

  /** Return vertical bars [from, to, foot, top] as one path. */
  bars(all) {
    return all.map(([from, to, foot, top]) => {
      const [a, b, low, high] = [this.x.at(from), this.x.at(to), this.y.at(foot), this.y.at(top)].map((v) => v.toFixed(1));
      return low === high ? "" : `M${a} ${low}V${high}H${b}V${low}Z`;
    }).join("");
  }
}

/** Return the labelled ticks of an axis as [value, text]. */
function written({ low, high, log }, space) {
  const room = Math.max(space, 2);
  const all = ticks(log, low, high, room).filter(([, label]) => label);
  const every = log ? Math.ceil(all.length / room) : 1;
  return all.filter((_, i) => i % every === 0);
}
