// Spans of both axes, conversion of values to pixels, and changes of the spans.
import { least } from "./answers.js";
import { clamp, nice } from "./numbers.js";
import { axis } from "./shapes.js";

/** Span of both axes, and their size and margins in pixels (`box`). */
export class Frame {
  constructor(answers) {
    this.epsilonAt = (run, T = run.T) => least(answers.at(run, T)).value;
    this.span = { last: 1e5, bottom: 0.005, top: 20 };
    this.box = { width: 800, height: 460, left: 54, right: 104, above: 30, below: 62, small: false };
  }

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
      return { last, bottom: 0, top: nice(top, 1, [1, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10]) };
    }
    const top = nice(Math.max(5 * run.budget, 10 * Math.min(epsilon, 1e6)), 1);
    const lowest = Math.min(this.epsilonAt(run, 1) || epsilon, run.budget / 4, epsilon / 2);
    return { last, bottom: nice(clamp(lowest, top / 1e4, top / 200), -1), top };
  }

  /** Return whether T, the budget and epsilon are well inside the span. */
  holds(run) {
    const { last, bottom } = this.span;
    if (run.logEpsilon !== bottom > 0) return false;
    const shares = this.axisEpsilon(run, 0, 1);
    const [epsilon, budget] = [this.epsilonAt(run), run.budget].map((value) => shares.at(value));
    const [low, lowest] = run.logEpsilon ? [0.2, 0.12] : [0.12, 0.04];
    return run.T < 0.75 * last && run.T > last ** 0.3 && epsilon > low && budget > lowest && Math.max(epsilon, budget) < 0.93;
  }

  /** Extend the span during a drag, without jumps. */
  grow(run) {
    const { span } = this;
    span.last = Math.max(span.last, run.T * 1.25);
    const epsilon = this.epsilonAt(run);
    if (!(epsilon > 0) || epsilon === Infinity) return;
    span.top = Math.max(span.top, Math.min(epsilon * 1.3, 1e6));
    if (run.logEpsilon) span.bottom = Math.min(span.bottom, Math.max(epsilon / 1.6, span.top / 1e6));
  }

  get sides() {
    const { width, height, left, right, above, below } = this.box;
    return { left, right: width - right, top: above, bottom: height - below };
  }

  axisT() {
    const { left, right } = this.sides;
    return axis({ low: 1, high: this.span.last, log: true }, left, right);
  }

  axisEpsilon(run, from = this.sides.bottom, to = this.sides.top) {
    const { bottom, top } = this.span;
    return axis({ low: run.logEpsilon ? bottom : 0, high: top, log: run.logEpsilon }, from, to);
  }

  x(T) {
    return this.axisT().at(T);
  }

  y(run, epsilon) {
    return this.axisEpsilon(run).at(epsilon);
  }

  atX(x) {
    return clamp(this.axisT().value(x), 1, 1e7);
  }

  /** Return epsilon at a pixel position, above 0. */
  atY(run, y) {
    const { top, bottom } = this.sides;
    const value = this.axisEpsilon(run).value(clamp(y, top + 2, bottom - 2));
    return run.logEpsilon ? value : Math.max(value, this.span.top / 500);
  }
}
