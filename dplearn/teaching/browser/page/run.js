// The run that a reader has in hand: what can be set, in which range, and how an address says it.
import { ACCOUNTANTS, STYLES } from "./accountants.js";
import { nearest, opened, queryOf } from "./numbers.js";

/** Of each number: ends, start, digits that a drag keeps, pixels for a factor of ten, name in an address
 * where it differs. B is 0 where the rate itself is given. */
export const FIELDS = {
  noise_multiplier: { ends: [0.2, 1000], start: 4, digits: 3, pixels: 200 },
  sample_rate: { ends: [1e-7, 1], start: 0.01, digits: 3, pixels: 120 },
  delta: { ends: [1e-30, 0.5], start: 1e-5, digits: 2, pixels: 60 },
  T: { ends: [1, 1e7], start: 10_000, digits: 3, pixels: 120, key: "here", whole: true },
  budget: { ends: [0.01, 1000], start: 2, digits: 3, pixels: 150 },
  rate: { ends: [1e-3, 0.5], start: 0.01, digits: 2, pixels: 150, key: "false_alarms" },
  N: { ends: [1, 1e10], start: 60_000, digits: 3, pixels: 100, key: "dataset_size", whole: true },
  B: { ends: [1, 1e10], start: 0, digits: 3, pixels: 120, key: "batch_size", whole: true },
};
export const FIRST = ["basic", "moments", "pld"];
/** The words of an address, of the kinds of runs that there are. */
const wordsOf = (kinds) => ({
  mechanism: { options: Object.keys(kinds.mechanism), start: "gaussian" },
  sampling: { options: ["none", ...Object.keys(kinds.sampling)], start: "poisson" },
  adjacency: { options: ["add_remove", "zero_out", "replace_one"], start: "add_remove" },
  rate_from: { options: ["rate", "counts"], start: "rate" }, x_axis: { options: ["log", "linear"], start: "log" }, y_axis: { options: ["linear", "log"], start: "linear" },
  accountants: { start: FIRST.join() }, pinned: { start: "" }, steps: { start: "" }, epochs: {},
});
// All that a curve depends on, and what makes a run beside it.
const KEYS = ["noise_multiplier", "sample_rate", "delta", "adjacency", "mechanism", "sampling"];
/** What kinds of runs there are where no server is asked: name in the address and on the screen. */
export const OWN = { mechanism: { gaussian: "" }, sampling: { poisson: "" } };

/** The value that a field allows nearest to a number. */
const allowed = (name, value) => nearest(FIELDS[name], value);

/** A run with one number changed; what follows from it follows. */
export const changed = (run, name, value) => {
  const next = { ...run, [name]: allowed(name, value) };
  if (name === "sample_rate") next.B = 0;
  if (name === "B") next.B = Math.min(next.B, next.N);
  if (name === "N") next.B = Math.min(next.B || Math.round(run.sample_rate * next.N) || 1, next.N);
  if (next.B) next.sample_rate = next.B / next.N;
  return next;
};

/** Whether the engine proves the run; the others are asked of a server. */
export const proved = ({ mechanism, sampling, shown }) =>
  mechanism === "gaussian" && sampling === "poisson" && !shown.some((name) => STYLES[name]?.served);

/** A run as the server reads it, under the library's names. */
export const runOf = ({ mechanism, noise_multiplier, sampling, sample_rate, delta, adjacency, T }) =>
  ({ mechanism, noise_multiplier, sampling: sample_rate < 1 ? sampling : "none", sample_rate, delta, adjacency, here: T });

/** The number that a handle shows. */
export const valueOf = (run, name) =>
  name === "B" ? run.B || Math.max(1, Math.round(run.sample_rate * run.N)) : run[name];

/** All that a curve depends on, as a key. */
export const keyOf = (run) => KEYS.map((name) => run[name]).join();

/** The address of a run: what differs from the first picture; of counts both, of a rate neither. */
export function written(run) {
  const { sample_rate, N, B, ...numbers } = FIELDS;
  const counts = { rate_from: {}, N: { ...N, start: 0 }, B };
  const state = {
    ...run, rate_from: "counts", accountants: run.shown.join(), x_axis: run.logT ? "log" : "linear",
    y_axis: run.logEpsilon ? "log" : "linear", pinned: run.pin ? written({ ...fromAddress("").run, ...run.pin }) : "", steps: "",
  };
  const { rate_from, epochs, ...words } = wordsOf(OWN);
  return queryOf(state, { ...numbers, ...(run.B ? counts : { sample_rate }), ...words }).toString();
}

/** The run of an address, and what it says in vain: numbers out of range, runs of another kind. `pin` is a
 * run to compare with, at its own T. */
export function fromAddress(address, kinds = OWN) {
  const { state, unread } = opened(address, { ...FIELDS, ...wordsOf(kinds) });
  const { rate_from, x_axis, y_axis, accountants, pinned: other, steps, epochs, ...numbers } = state;
  let run = { ...numbers, N: FIELDS.N.start, B: 0, shown: FIRST, logT: x_axis === "log", logEpsilon: y_axis === "log", pin: null };
  if (rate_from === "counts") run = changed({ ...run, sample_rate: FIELDS.sample_rate.start, N: state.N }, "B", state.B || 600);
  if (run.sampling === "none") run = { ...run, sampling: "poisson", sample_rate: 1, B: 0 };
  const names = accountants.split(",");
  const shown = ACCOUNTANTS.filter((name) => names.includes(name));
  if (shown.length) run.shown = shown;
  if (other) run.pin = pinned(fromAddress(other.slice(0, 500), kinds).run);
  return { run, unread };
}

/** What is kept of a run to compare with. */
export const pinned = ({ N, B, T, ...run }) => ({ N, B, T, ...Object.fromEntries(KEYS.map((name) => [name, run[name]])) });
