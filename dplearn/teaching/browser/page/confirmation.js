// Questions to the server, one at a time, about runs that the browser's engine does not cover.
import { ACCOUNTANTS } from "./accountants.js";
import { keyOf, runOf } from "./run.js";

const KEPT = 60;
const MOST = 1e7;
// Milliseconds after which an answer counts as lost with its connection.
const PATIENCE = 60_000;
const NOTHING = { steps: [1], of: {}, asked: true };

export class Confirmation {
  /** `send(question)` sends a question to the server, whose answer is later passed to `take`. */
  constructor(send, changed) {
    this.send = send;
    this.changed = changed;
    this.kept = new Map();
    this.waiting = false;
    this.since = 0;
    this.id = Date.now();
    this.held = false;
    this.last = NOTHING;
  }

  ask(question) {
    const lost = performance.now() - this.since > PATIENCE;
    if ((this.waiting && !lost) || !this.send) return false;
    this.waiting = true;
    this.since = performance.now();
    this.id += 1;
    this.send({ ...question, id: this.id });
    return true;
  }

  /** Store an answer of the server; the same answer may arrive repeatedly. */
  take(answer) {
    if (answer.id !== this.id || !this.waiting) return;
    this.waiting = false;
    if (answer.kind === "curves") {
      // JSON has Infinity as a string.
      const ends = (all) => all && all.map((x) => (x === null ? null : Number(x)));
      const of = Object.fromEntries(Object.entries(answer.of).map(([name, one]) => [name, { lower: ends(one.lower), upper: ends(one.upper) }]));
      this.kept.set(answer.key, { ...answer, of, asked: true });
      if (this.kept.size > KEPT) this.kept.delete(this.kept.keys().next().value);
    }
    this.changed();
  }

  /** Return curves up to a number of steps; until they arrive, the last curves, marked stale.
   * Except during a drag, T is among the steps. */
  curves(run, largest) {
    const most = Math.min(largest, MOST);
    const key = `${keyOf(run)}|${most}`;
    const have = this.kept.get(key);
    const known = have && run.shown.every((name) => have.of[name] || have.refusals?.[name]);
    const exact = have && (have.steps.includes(run.T) || run.T > have.steps.at(-1));
    if (!have?.refused && !(known && (this.held || exact))) {
      this.ask({ kind: "curves", key, run: runOf(run), shown: run.shown, largest: most });
    }
    if (have && !have.refused) this.last = have;
    return have ?? { ...this.last, stale: true };
  }

  /** Return both ends at one T, by monotonicity: upper of the next step, lower of the one before. */
  at(run, T) {
    const found = [...this.kept.values()].reverse().find((one) => one.key.startsWith(`${keyOf(run)}|`));
    if (!found) return {};
    const { steps, of } = found;
    const after = steps.findIndex((step) => step >= T);
    const before = after < 0 ? steps.length - 1 : steps[after] === T ? after : after - 1;
    const names = ACCOUNTANTS.filter((name) => of[name]);
    const end = (name) => ({ upper: of[name].upper[after] ?? null, lower: of[name].lower?.[before] ?? null });
    return Object.fromEntries(names.map((name) => [name, end(name)]));
  }
}
