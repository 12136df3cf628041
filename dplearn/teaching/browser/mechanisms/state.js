// State of the page: mechanism, parameters, adjacency, direction, epsilon, order and rate.
// The library's catalogue lists the mechanisms and the ranges of numbers.
import { opened, queryOf } from "../page/numbers.js";

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

  /** Return the keys of a mechanism's parameters, with those of its base after "base". */
  used(state, name = state.mechanism) {
    const { keys, examples } = this.mechanisms[name];
    return [...(examples ? ["example"] : []), ...keys.flatMap((key) => (key === "base" ? [key, ...this.used(state, this.base(state, name))] : [key]))];
  }

  /** Return the chosen base mechanism, or the first one if the choice is not available. */
  base(state, name = state.mechanism) {
    const { bases } = this.mechanisms[name];
    return bases.includes(state.base) ? state.base : bases[0];
  }

  /** Return the chosen adjacency, or the first one if no theorem covers the choice. */
  adjacency(state) {
    const { covered } = this.mechanisms[state.mechanism];
    return covered.includes(state.adjacency) ? state.adjacency : covered[0];
  }

  /** Return all that the pair depends on, as a question to the server. */
  asked(state) {
    const own = this.used(state).map((key) => [key, key === "base" ? this.base(state) : state[key]]);
    const { mechanism, direction } = state;
    return { mechanism, ...Object.fromEntries(own), adjacency: this.adjacency(state), direction };
  }

  written(state) {
    const named = ["mechanism", ...this.used(state), "adjacency", "direction", "epsilon", "order", "false_positive_rate"];
    return queryOf(state, Object.fromEntries(named.map((key) => [key, this.fields[key]]))).toString();
  }

  opened(address) {
    const { state, unread } = opened(address, this.fields);
    const covered = this.adjacency(state) === state.adjacency || state.adjacency === this.fields.adjacency.start;
    return { state, unread: covered ? unread : [...unread, `adjacency=${state.adjacency}`] };
  }
}
