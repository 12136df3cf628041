// What a reader has in hand: a mechanism, its parameters, neighbours, and the place on each curve where
// one looks. The catalogue, which the library wrote, says what there is, in which range.
import { nearest, read } from "../page/numbers.js";

const VIEW = ["epsilon", "order", "false_positive_rate"];
const ADJACENCIES = ["add_remove", "replace_one", "zero_out"];
const START = { mechanism: "gaussian", example: "1", adjacency: "add_remove", direction: "remove" };

export class Catalogue {
  /** `mechanisms`: title, own keys, bases, examples, neighbours and conditions of each; `numbers`:
   * label, ends and start of each. */
  constructor({ mechanisms, numbers }) {
    this.mechanisms = mechanisms;
    this.numbers = numbers;
    this.fields = Object.fromEntries(
      Object.entries(numbers).map(([name, { ends, whole }]) => [name, { ends, whole, digits: 3, pixels: 150 }]),
    );
    const starts = Object.entries(numbers).map(([name, { start }]) => [name, start]);
    this.start = { ...START, base: "gaussian", ...Object.fromEntries(starts) };
  }

  /** All that decides what a mechanism is, outermost first. */
  used(state, name = state.mechanism) {
    const { keys, examples } = this.mechanisms[name];
    return [...(examples ? ["example"] : []), ...keys.flatMap((key) => [key, ...(key === "base" ? this.used(state, this.base(state, name)) : [])])];
  }

  /** The mechanism inside: the one chosen, where there is one such. */
  base(state, name = state.mechanism) {
    const { bases } = this.mechanisms[name];
    return bases.includes(state.base) ? state.base : bases[0];
  }

  /** The neighbours in view: those asked for, where a theorem covers them. */
  adjacency(state) {
    const { covered } = this.mechanisms[state.mechanism];
    return covered.includes(state.adjacency) ? state.adjacency : covered[0];
  }

  /** All that the pair depends on, as it is asked. */
  asked(state) {
    const own = this.used(state).map((key) => [key, key === "base" ? this.base(state) : state[key]]);
    const { mechanism, direction } = state;
    return { mechanism, ...Object.fromEntries(own), adjacency: this.adjacency(state), direction };
  }

  /** The address of a state: what differs from the first picture. */
  written(state) {
    const named = ["mechanism", ...this.used(state), "adjacency", "direction", ...VIEW];
    const out = named.filter((key) => state[key] !== this.start[key]).map((key) => [key, String(state[key])]);
    return new URLSearchParams(out).toString();
  }

  /** The state of an address, and what the address says in vain. */
  opened(address) {
    const state = { ...this.start };
    const unread = [];
    const known = {
      mechanism: Object.keys(this.mechanisms), adjacency: ADJACENCIES, direction: ["remove", "add"],
      base: Object.keys(this.mechanisms), example: ["1", "2", "3"],
    };
    for (const [key, said] of new URLSearchParams(address)) {
      if (key === "language") continue;
      const value = this.fields[key] ? read(said) : said;
      const good = this.fields[key] ? nearest(this.fields[key], value) === value : known[key]?.includes(said);
      if (good) state[key] = value;
      else unread.push(`${key}=${said.slice(0, 40)}`);
    }
    if (this.adjacency(state) !== state.adjacency && state.adjacency !== START.adjacency) {
      unread.push(`adjacency=${state.adjacency}`);
    }
    return { state, unread: unread.slice(0, 3) };
  }
}
