// The picture of epsilon against T: curves, and the handles that can be held.
import { ACCOUNTANTS, STYLES } from "./accountants.js";
import { reached } from "./answers.js";
import { FAR } from "./axis.js";
import { Labels } from "./labels.js";
import { power, text, ticks } from "./numbers.js";
import { proved } from "./run.js";
import { Pool, el, pillAt, set, setAll, smooth, widthOf } from "./shapes.js";

let count = 0;

export class Picture {
  constructor(words) {
    this.words = words;
    const id = `dp-clip-${count++}`;
    const clipped = { "clip-path": `url(#${id})` };
    this.svg = el("svg", { class: "dp-svg", role: "group", "aria-label": words.picture });
    this.clip = el("rect");
    this.svg.append(el("defs", {}, el("clipPath", { id }, this.clip)));
    this.over = this.add("rect", { class: "dp-over" });
    this.pool = new Pool(this.add("g"));
    const lines = this.add("g", clipped);
    const path = (name) => lines.appendChild(el("path", { class: `dp-${name}` }));
    this.band = path("band");
    this.pinned = path("ghost");
    this.lines = Object.fromEntries(ACCOUNTANTS.map((name) => [name, path(`line ${STYLES[name].classes}`)]));
    this.gap = path("gap");
    this.claim = path("claim");
    this.crossings = Object.fromEntries(
      ACCOUNTANTS.map((name) => [name, this.add("path", { class: `dp-cross dp-${name}` })]),
    );
    // The PLD curve can be held anywhere.
    this.pull = this.add("path", { class: "dp-pull", "data-drag": "pull", ...clipped });
    const pill = () => [el("rect", { class: "dp-pill", rx: 11 }), el("text", { class: "dp-pilltext" })];
    const line = (name) => [el("line", { class: "dp-hit" }), el("line", { class: `dp-${name}line` })];
    this.budget = this.handle("budget", ...line("budget"), ...pill());
    this.T = this.handle("T", ...line("t"), ...pill());
    this.labels = new Labels(this.add("g", { class: "dp-dots" }), words);
    this.claimName = this.add("text", { class: "dp-claimname", "text-anchor": "end" });
    this.printed = this.add("g", { class: "dp-printed" });
    this.curve = this.handle(
      "curve",
      el("circle", { class: "dp-hitdot", r: 22 }),
      el("circle", { class: "dp-grip", r: 9 }),
      el("path", { class: "dp-arrows", d: "M-4-15L0-20L4-15M-4 15L0 20L4 15" }),
    );
    this.epsilon = this.add("text", { class: "dp-axisname", "text-anchor": "end" });
  }

  add(tag, attributes) {
    return this.svg.appendChild(el(tag, attributes));
  }

  handle(name, ...children) {
    const told = { role: "slider", tabindex: 0, "data-drag": name, "aria-label": this.words.names[`${name}line`] ?? this.words.names[name] };
    const node = this.add("g", { class: `dp-handle dp-h-${name}`, ...told });
    node.append(...children);
    return node;
  }

  /** Draw what was found for a run; `view` has frame, found, ends, best, pinned, points, touched. */
  draw(run, view) {
    const { frame } = view;
    this.frame = frame;
    const { width, height } = frame.box;
    setAll(this.svg, { viewBox: `0 0 ${width} ${height}`, width, height });
    const { left, right, top, bottom } = frame.sides;
    setAll(this.clip, { x: left, y: top, width: right - left, height: bottom - top });
    this.drawAxes(run);
    this.drawCurves(run, view);
    this.drawLines(run, view);
    this.labels.draw(run, view);
    this.drawPrinted(run, view);
    const { value } = view.best;
    const held = proved(run) && run.shown.includes("pld") && value < Infinity && (value > 0 || !run.logEpsilon);
    set(this.curve, "visibility", held ? null : "hidden");
    if (!held) return;
    const y = Math.min(Math.max(frame.y(run, value), top - 30), bottom + 30);
    set(this.curve, "transform", `translate(${frame.x(run, run.T).toFixed(1)} ${y.toFixed(1)})`);
  }

  drawAxes(run) {
    const { frame } = this;
    const [{ left, right, top, bottom }, { last, bottom: low, top: high }] = [frame.sides, frame.span];
    const rule = (x1, y1, x2, y2, kind) => this.pool.put("line", { x1, y1, x2, y2, class: kind });
    const label = (x, y, words, kind) => this.pool.put("text", { x, y, text: words, class: kind });
    for (const [value, written] of ticks(run.logEpsilon, low, high, 5)) {
      const y = frame.y(run, value);
      rule(left, y, right, y, written ? "dp-grid" : "dp-grid dp-faint");
      if (written) label(left - 8, y + 4, text(value), "dp-tick-y");
    }
    const { small } = frame.box;
    const first = run.logT ? 1 : 0;
    for (const [value, written] of ticks(run.logT, first, last, small ? 3 : 6)) {
      const x = frame.x(run, value || 1e-9);
      rule(x, top, x, bottom, written ? "dp-grid" : "dp-grid dp-faint");
      // The T line has its own label.
      if (!written || Math.abs(x - frame.x(run, run.T)) <= 30) continue;
      const words = value >= 1e5 && small ? power(Math.round(Math.log10(value))) : text(value);
      label(x, bottom + 18, words, "dp-tick-x");
    }
    rule(left, bottom, right, bottom, "dp-axis");
    this.pool.done();
    setAll(this.epsilon, { x: left - 14, y: top - 14, text: "ε" });
  }

  drawCurves(run, { found, pinned }) {
    const gaps = [];
    this.svg.classList.toggle("dp-stale", Boolean(found.stale));
    for (const name of ACCOUNTANTS) {
      const drawn = run.shown.includes(name) && found.of[name];
      const open = name === "pld" ? gaps : null;
      set(this.lines[name], "d", drawn ? this.path(run, found, drawn.upper, open) : "");
    }
    // What is claimed of a run by those who take it for another.
    const claim = found.claim || null;
    set(this.claim, "d", claim ? this.path(run, { steps: found.steps }, claim) : "");
    set(this.claimName, "text", claim ? this.words.claimed : "");
    const [last, { right, top }] = [this.frame.y(run, claim?.at(-1) ?? 1), this.frame.sides];
    setAll(this.claimName, { x: right - 6, y: Math.max(last, top + 20) - 10 });
    set(this.band, "d", found.asked && run.shown.includes("pld") ? this.between(run, found) : "");
    // Where PLD is open, the best bound that is proved, dotted, from neighbour to neighbour.
    const { steps, of } = found;
    const bridges = gaps.map((i) => [i - 1, i, i + 1]
      .filter((j) => steps[j] !== undefined)
      .map((j) => [steps[j], of.pld.upper[j] ?? of.rdp?.upper[j]])
      .filter(([, epsilon]) => epsilon > 0 && epsilon < Infinity)
      .map(([T, epsilon], j) => `${j ? "L" : "M"}${this.place(run, T, epsilon)}`)
      .join(""));
    set(this.gap, "d", bridges.join(""));
    set(this.pull, "d", found.asked ? "" : (this.lines.pld.getAttribute("d") ?? "") + bridges.join(""));
    const other = pinned?.found.of.pld?.upper.map((end, i) => end ?? pinned.found.of.rdp?.upper[i] ?? null);
    set(this.pinned, "d", other ? this.path(run, pinned.found, other) : "");
  }

  place(run, T, epsilon) {
    return `${this.frame.x(run, T).toFixed(1)} ${this.frame.y(run, epsilon).toFixed(1)}`;
  }

  /** A curve through all points that are known; the others are told to `open`. */
  path(run, { steps, stairs = false }, ends, open = null) {
    const parts = [[]];
    for (const [i, end] of ends.entries()) {
      if (end === null || end === Infinity || (run.logEpsilon && !(end > 0))) {
        if (end === null) open?.push(i);
        parts.push([]);
        continue;
      }
      const y = this.frame.y(run, end);
      parts.at(-1).push([this.frame.x(run, steps[i]), y]);
      if (y <= -FAR) break;
    }
    return parts.map(stairs ? stepped : smooth).join("");
  }

  /** What is proved from both sides, where the two ends are apart. */
  between(run, { steps, of, stairs }) {
    const { lower, upper } = of.pld ?? { lower: null, upper: [] };
    const ends = steps.flatMap((T, i) => (lower?.[i] > 0 && upper[i] < Infinity ? [[T, lower[i], upper[i]]] : []));
    const side = (k, all = ends) => all.map((end) => [this.frame.x(run, end[0]), this.frame.y(run, end[k])]);
    if (!side(1).some(([, y], i) => y - side(2)[i][1] > 1.5)) return "";
    if (!stairs) return `${smooth(side(2))}L${smooth(side(1, [...ends].reverse())).slice(1)}Z`;
    // Each step of the staircase is a box.
    return ends.slice(1).map(([T, low, high], i) => `M${this.place(run, ends[i][0], high)}L${this.place(run, T, high)}L${this.place(run, T, low)}L${this.place(run, ends[i][0], low)}Z`).join("");
  }

  /** The T line, the budget line, and where curves meet the budget. */
  drawLines(run, { found }) {
    const { frame } = this;
    const [{ left, right, top, bottom }, { small, bold }] = [frame.sides, frame.box];
    const x = frame.x(run, run.T);
    const y = Math.min(Math.max(frame.y(run, run.budget), top), bottom);
    const words = `◂ T = ${text(run.T)} ▸`;
    const width = widthOf(words, bold) + 20;
    const centre = Math.min(Math.max(x, left + width / 2 - 40), right + frame.box.right - width / 2);
    hold(this.T, { x1: x, x2: x, y1: top - 4, y2: bottom + 26 }, [centre, bottom + 38], width, words);
    const budget = `▴▾ ${small ? "" : "ε = "}${text(run.budget)}`;
    const wide = widthOf(budget, bold) + 20;
    const from = small ? left - 36 : left + 10;
    hold(this.budget, { x1: left, x2: right, y1: y, y2: y }, [from + wide / 2, y], wide, budget);
    setAll(this.over, { x: left, y: top, width: right - left, height: y - top });
    for (const name of ACCOUNTANTS) {
      const T = run.shown.includes(name) && run.budget < frame.span.top ? reached(found, name, run.budget) : null;
      const at = T ? frame.x(run, T) : 0;
      const seen = at > left && at < right - 2;
      set(this.crossings[name], "d", seen ? `M${at.toFixed(1)} ${(y - 6).toFixed(1)}V${(y + 6).toFixed(1)}` : "");
    }
  }

  /** Published figures of this very run, each with its source. */
  drawPrinted(run, { points }) {
    const { left, right, top, bottom } = this.frame.sides;
    const nodes = points.flatMap((row) => {
      const [x, y] = [this.frame.x(run, row.T), this.frame.y(run, row.epsilon)];
      if (!run.shown.includes(row.accountant) || x < left || x > right || y < top || y > bottom) return [];
      const kind = `dp-${row.accountant}`;
      const ring = el("path", { class: `dp-ring ${kind}`, d: STYLES.pinned.outline, transform: `translate(${x} ${y}) scale(2.1)` });
      return [ring, el("text", { class: `dp-ringname ${kind}`, x: x + 13, y: y - 8 }, `◎ ${row.value}`)];
    });
    this.printed.replaceChildren(...nodes);
  }
}

/** A staircase: what holds at a point holds since the one before. */
function stepped(points) {
  if (!points.length) return "";
  const [[x, y], ...more] = points;
  return `M${x.toFixed(1)} ${y.toFixed(1)}${more.map(([a, b]) => `V${b.toFixed(1)}H${a.toFixed(1)}`).join("")}`;
}

/** A handle: its line twice, one of them wide for the hand, and its label. */
function hold({ children: [hit, ...parts] }, ends, at, width, words) {
  setAll(hit, ends);
  pillAt(parts, ends, at, width, words);
}
