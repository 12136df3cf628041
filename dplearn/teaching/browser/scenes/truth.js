// What is proved of the run: curves over its steps, both ends at one number of them.
import { least } from "../page/answers.js";
import { places } from "./guess.js";

const POINTS = 60;

export class Truth {
  /** Nothing is asked before it is shown. */
  constructor(engine, run) {
    this.engine = engine;
    this.run = run;
    this.ends = new Map();
    this.drawn = null;
  }

  /** The curves of PLD, where it is open of RDP, and of the moments accountant: [T, epsilon]. */
  get curves() {
    if (this.drawn) return this.drawn;
    const { T } = this.run;
    // Steep at first: more points there.
    const shares = Array.from({ length: POINTS }, (_, i) => Math.round(T * ((i + 1) / POINTS) ** 2));
    const steps = [...new Set([1, ...shares, ...places(T).map(Math.round)])].filter((t) => t >= 1).sort((a, b) => a - b);
    const { pld, moments, rdp } = this.engine.curves(this.run, steps, { accountants: ["pld", "moments", "rdp"] });
    const line = (ends) => steps.map((t, i) => [t, ends[i]]).filter(([, epsilon]) => epsilon < Infinity);
    return (this.drawn = { pld: line(pld.upper.map((end, i) => end ?? rdp.upper[i])), moments: line(moments.upper) });
  }

  /** Both ends at T of what is proved; no lower one where PLD is open. */
  at(T) {
    if (!this.ends.has(T)) {
      const all = this.engine.curves(this.run, [T], { accountants: ["pld", "moments", "rdp"] });
      const end = (name) => ({ lower: all[name].lower?.[0] ?? null, upper: all[name].upper[0] });
      const ends = { pld: end("pld"), rdp: end("rdp") };
      const { name, value } = least(ends);
      this.ends.set(T, { lower: ends[name].lower, upper: value, moments: all.moments.upper[0] });
    }
    return this.ends.get(T);
  }
}
