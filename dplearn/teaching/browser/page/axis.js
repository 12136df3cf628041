// Axis that converts values to pixels and back; grid lines and labels of two axes.
import { clamp } from "./numbers.js";
import { el } from "./shapes.js";

/** Pixel positions are clamped to this distance on either side. */
export const FAR = 3000;

export class Axis {
  /** Axis from `low` to `high` over the pixels `from` .. `to`. */
  constructor({ low, high, log = false }, from, to) {
    this.low = low;
    this.high = high;
    this.log = log;
    this.from = from;
    this.to = to;
  }

  at(value) {
    const { low, high, log, from, to } = this;
    const share = log ? Math.log(value / low) / Math.log(high / low) : (value - low) / (high - low);
    return clamp(from + share * (to - from), -FAR, FAR);
  }

  /** Return the value at a pixel position, clamped to the axis. */
  value(place) {
    const { low, high, log, from, to } = this;
    const share = clamp((place - from) / (to - from), 0, 1);
    return log ? low * (high / low) ** share : low + share * (high - low);
  }
}

/** Return the nodes of two axes within `sides`; ticks are [value, label], with faint lines without a label.
 * `em` is the font size. */
export function grid(x, y, { left, right, top, bottom }, across, up, em = 14) {
  const line = (x1, y1, x2, y2, words) => el("line", { x1, y1, x2, y2, class: words ? "dp-grid" : "dp-grid dp-faint" });
  const label = (at, height, anchor, words) => el("text", { x: at, y: height, "text-anchor": anchor, class: "dp-scale" }, words);
  return [
    ...up.flatMap(([value, words]) => {
      const at = y.at(value);
      return [line(left, at, right, at, words), label(left - 0.5 * em, at + 0.32 * em, "end", words)];
    }),
    ...across.flatMap(([value, words]) => {
      const at = x.at(value);
      return [line(at, top, at, bottom, words), label(at, bottom + 1.3 * em, "middle", words)];
    }),
    el("line", { x1: left, y1: bottom, x2: right, y2: bottom, class: "dp-axis" }),
  ];
}
