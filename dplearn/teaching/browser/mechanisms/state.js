// What a reader has in hand: a mechanism, its parameters, neighbours, and the place on each curve where
// one looks. The catalogue, which the library wrote, says what there is, in which range.
import { opened, queryOf } from "../page/numbers.js";

const VIEW = ["epsilon", "order", "false_positive_rate"];

export class Catalogue {
  /** `mechanisms`: title, own keys, bases, examples, neighbours and conditions of each; `numbers`:
   * label, ends and start of each. */
  constructor({ mechanisms, numbers }) {
    this.mechanisms = mechanisms;
    this.numbers = numbers;
    const names = Object.keys(mechanisms);
    const dragged = Object.entries(numbers).map(([name, number]) => [name, { digits: 3, pixels: 150, ...number }]);
    this.fields = {
      mechanism: { options: names, start: "gaussian" }, base: { options: names, start: "gaussian" },
      example: { options: ["1", "2", "3"], start: "1" }, adjacency: { options: ["add_remove", "replace_one", "zero_out"], start: "add_remove" },
      direction: { options: ["remove", "add"], start: "remove" }, ...Object.fromEntries(dragged),
    };
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
    return queryOf(state, Object.fromEntries(named.map((key) => [key, this.fields[key]]))).toString();
  }

  /** The state of an address, and what the address says in vain. */
  opened(address) {
    const { state, unread } = opened(address, this.fields);
    const covered = this.adjacency(state) === state.adjacency || state.adjacency === this.fields.adjacency.start;
    return { state, unread: covered ? unread : [...unread, `adjacency=${state.adjacency}`] };
  }
}
