// An axis: where a value lies in pixels, and the value at a place.
import { clamp } from "./numbers.js";

/** Places in pixels end here, on either side: such a value is far outside. */
export const FAR = 3000;

export class Axis {
  /** From `low` to `high`, over the pixels `from` .. `to`. */
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

  /** The value at a place, inside the axis. */
  value(place) {
    const { low, high, log, from, to } = this;
    const share = clamp((place - from) / (to - from), 0, 1);
    return log ? low * (high / low) ** share : low + share * (high - low);
  }
}
