// What the axes span: they only grow while a hand is at work, and settle when it has let go.

// What one frame leaves of the way, and how near is there.
const LEFT = 0.72;
const THERE = 4e-3;
// A picture that fills its axes less well than this is framed anew.
const LOOSE = 0.3;

const scale = ({ log }, value) => (log ? Math.log(value) : value);
const back = ({ log }, value) => (log ? Math.exp(value) : value);

export class Spans {
  constructor() {
    this.now = null;
    this.moving = false;
  }

  /** The spans to draw with, given those that suit; `calm` where nothing may move by itself. */
  next(wanted, held, calm) {
    const pairs = (change) => this.now.map((axes, i) => axes.map((axis, j) => change(axis, wanted[i][j])));
    if (!this.now) this.now = wanted;
    const some = (is) => this.now.some((axes, i) => axes.some((axis, j) => is(axis, wanted[i][j])));
    if (held) {
      this.now = pairs((axis, other) => ({ ...axis, low: Math.min(axis.low, other.low), high: Math.max(axis.high, other.high) }));
      this.moving = false;
    } else if (some(this.moving ? (axis, other) => apart(axis, other) > THERE : misfit)) {
      this.moving = !calm;
      this.now = calm ? wanted : pairs(towards);
    } else if (this.moving) [this.now, this.moving] = [wanted, false];
    return this.now;
  }
}

/** Whether something lies outside, or too much room is left. */
function misfit(axis, other) {
  const slack = 0.02 * (other.high - other.low);
  const outside = axis.log ? axis.low > 1.1 * other.low || 1.1 * axis.high < other.high : axis.low > other.low + slack || axis.high < other.high - slack;
  return outside || apart(axis, other) > LOOSE;
}

/** How far two spans differ, as a share of the second. */
function apart(axis, other) {
  const [low, high] = [scale(other, other.low), scale(other, other.high)];
  return Math.max(Math.abs(scale(other, axis.low) - low), Math.abs(scale(other, axis.high) - high)) / (high - low);
}

function towards(axis, other) {
  const part = (/** @type {"low" | "high"} */ end) => back(other, LEFT * scale(other, axis[end]) + (1 - LEFT) * scale(other, other[end]));
  return { ...other, low: part("low"), high: part("high") };
}
