// The picture of epsilon against T and its axes: permanent handles, and other nodes redrawn from a view.
import { least, reached } from "./answers.js";
import { names, values } from "./labels.js";
import { clamp, nice, power, text, ticks } from "./numbers.js";
import { ACCOUNTANTS, STYLES, proved } from "./run.js";
import { FAR, area, axis, clipping, el, grid, pill, pillAt, point, set, setAll, smooth, straight, widthOf } from "./shapes.js";

export class Picture {
  constructor(words) {
    this.words = words;
    const { rect, defs, inside } = clipping();
    this.clip = rect;
    this.svg = el("svg", { class: "dp-svg", role: "group", "aria-label": words.picture }, defs);
    this.behind = this.add("g");
    this.curves = this.add("g", inside);
    // The PLD curve can be dragged at any point.
    this.pull = this.add("path", { class: "dp-pull", "data-drag": "pull", ...inside });
    const line = (name) => [el("line", { class: "dp-hit" }), el("line", { class: `dp-${name}line` })];
    this.budget = this.handle("budget", words.names.budgetline, ...line("budget"), ...pill());
    this.T = this.handle("T", words.names.Tline, ...line("t"), ...pill());
    this.above = this.add("g", { class: "dp-dots" });
    const grip = [el("circle", { class: "dp-hitdot", r: 22 }), el("circle", { class: "dp-grip", r: 9 })];
    this.curve = this.handle("curve", words.names.curve, ...grip, el("path", { class: "dp-arrows", d: "M-4-15L0-20L4-15M-4 15L0 20L4 15" }));
  }

  add = (tag, attributes, ...children) => this.svg.appendChild(el(tag, attributes, ...children));
  handle = (name, label, ...children) =>
    this.add("g", { class: `dp-handle dp-h-${name}`, role: "slider", tabindex: 0, "data-drag": name, "aria-label": label }, ...children);

  /** Draw the results of a run; `view` has frame, found, ends, best, pinned, points, touched. */
  draw(run, view) {
    const { frame, found: { claim, stale } } = view;
    this.frame = frame;
    const { box: { width, height }, sides: { right, top, bottom } } = frame;
    setAll(this.svg, { viewBox: `0 0 ${width} ${height}`, width, height });
    setAll(this.clip, area(frame.sides));
    this.svg.classList.toggle("dp-stale", Boolean(stale));
    this.level = clamp(frame.y.at(run.budget), top, bottom);
    this.behind.replaceChildren(...this.axes(run));
    this.drawCurves(run, view);
    this.drawLines(run);
    const claimed = [];
    if (claim) claimed.push(el("text", { class: "dp-claimname", "text-anchor": "end", x: right - 6, y: Math.max(frame.y.at(claim.at(-1)), top + 20) - 10 }, this.words.claimed));
    this.above.replaceChildren(
      ...this.crossings(run, view),
      ...values(run, view, this.words),
      ...names(run, view, this.words),
      ...claimed,
      ...this.printed(run, view),
    );
    const { value } = view.best;
    const held = proved(run) && run.shown.includes("pld") && value < Infinity && (value > 0 || !run.logEpsilon);
    set(this.curve, "visibility", held ? null : "hidden");
    if (held) set(this.curve, "transform", `translate(${point(frame.x.at(run.T), clamp(frame.y.at(value), top - 30, bottom + 30))})`);
  }

  axes(run) {
    const { x, y, sides, span: { last, bottom: low, top: high }, box: { small } } = this.frame;
    // Leave out labels near the T line, which has a label.
    const apart = (value) => Math.abs(x.at(value) - x.at(run.T)) > 30;
    const steps = (value) => (value >= 1e5 && small ? power(Math.round(Math.log10(value))) : text(value));
    const across = ticks(true, 1, last, small ? 3 : 6, (value) => (apart(value) ? steps(value) : ""));
    return [
      el("rect", { class: "dp-over", ...area({ ...sides, bottom: this.level }) }),
      ...grid(x, y, sides, across, ticks(run.logEpsilon, low, high, 5)),
      el("text", { class: "dp-scale", x: sides.left - 14, y: sides.top - 14, "text-anchor": "end" }, "ε"),
    ];
  }

  drawCurves(run, { found, pinned }) {
    const { steps, of } = found;
    const shown = run.shown.includes("pld");
    const path = (kind, d) => el("path", { class: `dp-${kind}`, d });
    const lines = ACCOUNTANTS.filter((name) => run.shown.includes(name) && of[name])
      .map((name) => path(`line ${STYLES[name].classes}`, this.path(found, of[name].upper)));
    const other = pinned?.found.of.pld?.upper.map((end, i) => end ?? pinned.found.of.rdp?.upper[i] ?? null);
    // Where PLD is null, draw a dotted line of RDP between the neighbouring points.
    const ends = (i) => [i - 1, i, i + 1].map((j) => [steps[j], of.pld.upper[j] ?? of.rdp?.upper[j]]).filter(([T, epsilon]) => T && epsilon > 0 && epsilon < Infinity);
    const bridges = steps.map((_, i) => (shown && of.pld?.upper[i] === null ? straight(ends(i).map(this.frame.place)) : "")).join("");
    this.curves.replaceChildren(
      path("band", found.asked && shown ? this.between(found) : ""),
      path("ghost", other ? this.path(pinned.found, other) : ""),
      ...lines,
      path("gap", bridges),
      // Curve of Poisson accounting, which does not apply to this run.
      path("claim", found.claim ? this.path({ steps }, found.claim) : ""),
    );
    set(this.pull, "d", shown && !found.asked ? this.path(found, of.pld.upper) + bridges : "");
  }

  /** Return the path of a curve through all finite points. */
  path({ steps, stairs = false }, ends) {
    const { span: { log }, place } = this.frame;
    const parts = [[]];
    for (const [i, end] of ends.entries()) {
      if (end === null || end === Infinity || (log && !(end > 0))) {
        parts.push([]);
        continue;
      }
      const [x, y] = place([steps[i], end]);
      parts.at(-1).push([x, y]);
      if (y <= -FAR) break;
    }
    return parts.map(stairs ? stepped : smooth).join("");
  }

  /** Return the band between lower and upper ends, "" if they coincide on the screen. */
  between({ steps, of, stairs }) {
    const { lower, upper } = of.pld ?? { lower: null, upper: [] };
    const finite = steps.map((_, i) => i).filter((i) => lower?.[i] > 0 && upper[i] < Infinity);
    const [low, high] = [lower, upper].map((ends) => finite.map((i) => this.frame.place([steps[i], ends[i]])));
    if (!low.some(([, y], i) => y - high[i][1] > 1.5)) return "";
    if (!stairs) return `${smooth(high)}L${smooth(low.reverse()).slice(1)}Z`;
    // One rectangle for each step of the step functions.
    return finite.slice(1).map((_, i) => {
      const [[from], [to, above], [, below]] = [high[i], high[i + 1], low[i + 1]];
      return `M${[[from, above], [to, above], [to, below], [from, below]].map(([x, y]) => point(x, y)).join("L")}Z`;
    }).join("");
  }

  drawLines(run) {
    const { level: y, frame, frame: { sides: { left, right, top, bottom }, box: { small, bold } } } = this;
    const x = frame.x.at(run.T);
    const words = `◂ T = ${text(run.T)} ▸`;
    const width = widthOf(words, bold) + 20;
    const centre = clamp(x, left + width / 2 - 40, frame.box.width - width / 2);
    pillAt(this.T.children, { x1: x, x2: x, y1: top - 4, y2: bottom + 26 }, [centre, bottom + 38], width, words);
    const budget = `▴▾ ${small ? "" : "ε = "}${text(run.budget)}`;
    const wide = widthOf(budget, bold) + 20;
    const from = small ? left - 36 : left + 10;
    pillAt(this.budget.children, { x1: left, x2: right, y1: y, y2: y }, [from + wide / 2, y], wide, budget);
  }

  crossings(run, { found, frame }) {
    const [{ left, right }, y] = [frame.sides, this.level];
    return ACCOUNTANTS.flatMap((name) => {
      const T = run.shown.includes(name) && run.budget < frame.span.top ? reached(found, name, run.budget) : null;
      const at = T ? frame.x.at(T) : 0;
      return at > left && at < right - 2 ? [el("path", { class: `dp-cross dp-${name}`, d: `M${at} ${y - 6}V${y + 6}` })] : [];
    });
  }

  printed(run, { points, frame }) {
    const { left, right, top, bottom } = frame.sides;
    return points.flatMap((row) => {
      const [x, y] = frame.place([row.T, row.epsilon]);
      if (!run.shown.includes(row.accountant) || x < left || x > right || y < top || y > bottom) return [];
      const kind = `dp-${row.accountant}`;
      const ring = el("path", { class: `dp-ring ${kind}`, d: STYLES.pinned.outline, transform: `translate(${x} ${y}) scale(2.1)` });
      return [ring, el("text", { class: `dp-ringname ${kind}`, x: x + 13, y: y - 8 }, `◎ ${row.value}`)];
    });
  }
}

/** Return the path of a step function; each value holds since the previous point. */
const stepped = (points) => points.map(([x, y], i) => (i ? `V${y.toFixed(1)}H${x.toFixed(1)}` : `M${point(x, y)}`)).join("");

/** Span of both axes, the size of the picture (`box`), and the ends of the axes in pixels (`sides`). */
export class Frame {
  constructor(answers) {
    this.epsilonAt = (run, T = run.T) => least(answers.at(run, T)).value;
    this.span = { last: 1e5, bottom: 0, top: 20, log: false };
    this.box = { width: 800, height: 460, small: false };
    this.sides = { left: 54, right: 696, top: 30, bottom: 398 };
  }

  /** Return the pixel position of a point [T, epsilon]. */
  place = ([T, epsilon]) => [this.x.at(T), this.y.at(epsilon)];

  /** Return the last step of curves, a power of ten, so that cached curves are used again. */
  largest(run) {
    return 10 ** Math.ceil(Math.log10(Math.max(this.span.last, run.T)) - 1e-9);
  }

  /** Return a span with T, the budget and epsilon of a run well inside. */
  suiting(run) {
    const found = this.epsilonAt(run);
    // Before the server's answer, epsilon is unknown.
    const epsilon = found === Infinity ? run.budget : found;
    const last = clamp(10 ** Math.ceil(Math.log10(run.T * 1.9)), 100, 1e8);
    if (!run.logEpsilon) {
      // The curve should reach the right side, where its name is, unless it grows too fast.
      const end = Math.min(1.25 * this.epsilonAt(run, last), 6 * epsilon);
      const top = Math.max(1.5 * run.budget, 2.4 * Math.min(epsilon, 1e6), Math.min(end, 1e6));
      return { last, log: false, bottom: 0, top: nice(top, 1, [1, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10]) };
    }
    const top = nice(Math.max(5 * run.budget, 10 * Math.min(epsilon, 1e6)), 1);
    const lowest = Math.min(this.epsilonAt(run, 1) || epsilon, run.budget / 4, epsilon / 2);
    return { last, log: true, bottom: nice(clamp(lowest, top / 1e4, top / 200), -1), top };
  }

  /** Return whether T, the budget and epsilon are well inside the span. */
  holds({ T, budget }, epsilon) {
    const { span: { last, log }, y } = this;
    const [low, lowest] = log ? [0.2, 0.12] : [0.12, 0.04];
    const [share, own] = [epsilon, budget].map((value) => y.share(value));
    return T < 0.75 * last && T > last ** 0.3 && share > low && own > lowest && Math.max(share, own) < 0.93;
  }

  /** Extend the span during a drag, without jumps. */
  grow({ T }, epsilon) {
    const { span } = this;
    span.last = Math.max(span.last, T * 1.25);
    if (!(epsilon > 0) || epsilon === Infinity) return;
    span.top = Math.max(span.top, Math.min(epsilon * 1.3, 1e6));
    span.bottom = Math.min(span.bottom, Math.max(epsilon / 1.6, span.top / 1e6));
  }

  get x() {
    const { left, right } = this.sides;
    return axis({ low: 1, high: this.span.last, log: true }, left, right);
  }

  get y() {
    const { span: { bottom: low, top: high, log }, sides: { bottom, top } } = this;
    return axis({ low, high, log }, bottom, top);
  }

  /** Return epsilon at a pixel position, above 0. */
  atY(y) {
    const { top, bottom } = this.sides;
    const value = this.y.value(clamp(y, top + 2, bottom - 2));
    return this.span.log ? value : Math.max(value, this.span.top / 500);
  }
}
