// Accountants, and fields of a run: their ranges, their form in addresses, and as Python code.
import { nearest, opened, queryOf } from "./numbers.js";

/** Outlines of marks by Plotly's symbol names. */
const OUTLINES = {
  circle: "M0-4A4 4 0 1 1 0 4A4 4 0 1 1 0-4Z", "triangle-up": "M0-5L5 4H-5Z", "triangle-down": "M0 5L5-4H-5Z",
  square: "M-4-4H4V4H-4Z", diamond: "M0-5.5L5 0L0 5.5L-5 0Z", cross: "M-1.6-5H1.6V-1.6H5V1.6H1.6V5H-1.6V1.6H-5V-1.6H-1.6Z",
  star: "M0-6L1.6-2H6L2.4 1L3.8 5.4L0 2.8L-3.8 5.4L-2.4 1L-6-2H-1.6Z", x: "M-4-4L4 4M-4 4L4-4", hexagon: "M-5 0L-2.5-4.3H2.5L5 0L2.5 4.3H-2.5Z",
};
/** Names of the accountants, in the order of their buttons. */
export const ACCOUNTANTS = [];
/** Styles by name; `about` is a description by language, and only the server computes `served` accountants. */
export const STYLES = { pinned: { outline: OUTLINES.circle, classes: "dp-pinned" } };

/** Register the library's accountants; without a server, only those that the engine computes. */
export function register(accountants, engine, server) {
  ACCOUNTANTS.length = 0;
  for (const { name, label, symbol, about, kind } of accountants) {
    const [served, approximation] = [!engine.ACCOUNTANTS.includes(name), kind === "approximate"];
    if (served && !server) continue;
    ACCOUNTANTS.push(name);
    const classes = `dp-${name}${approximation ? " dp-approximate" : ""}`;
    STYLES[name] = { label, outline: OUTLINES[symbol], classes, about, approximation, served };
  }
}

/** Fields: `digits` after a drag, `pixels` of drag per factor of ten. B is 0 if the rate is given directly. */
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
/** Return the text fields of an address for these kinds of runs. */
const wordsOf = (kinds) => ({
  mechanism: { options: Object.keys(kinds.mechanism), start: "gaussian" },
  sampling: { options: ["none", ...Object.keys(kinds.sampling)], start: "poisson" },
  adjacency: { options: ["add_remove", "zero_out", "replace_one"], start: "add_remove" },
  rate_from: { options: ["rate", "counts"], start: "rate" }, y_axis: { options: ["linear", "log"], start: "linear" },
  accountants: { start: FIRST.join() }, pinned: { start: "" }, steps: { start: "" }, epochs: {},
});
// All fields that a curve depends on.
const KEYS = ["noise_multiplier", "sample_rate", "delta", "adjacency", "mechanism", "sampling"];
/** Kinds of runs without a server: name in the address and displayed name. */
export const OWN = { mechanism: { gaussian: "" }, sampling: { poisson: "" } };

/** Return a run in which one number and the numbers that depend on it are changed. */
export const changed = (run, name, value) => {
  const next = { ...run, [name]: nearest(FIELDS[name], value) };
  if (name === "sample_rate") next.B = 0;
  if (name === "B") next.B = Math.min(next.B, next.N);
  if (name === "N") next.B = Math.min(next.B || Math.round(run.sample_rate * next.N) || 1, next.N);
  if (next.B) next.sample_rate = next.B / next.N;
  return next;
};

/** Return whether the engine computes the run; other runs need a server. */
export const proved = ({ mechanism, sampling, shown }) =>
  mechanism === "gaussian" && sampling === "poisson" && !shown.some((name) => STYLES[name]?.served);

/** Return whether a published value has the noise, sample rate and delta of a run. */
export const near = (row, run) => ["noise_multiplier", "sample_rate", "delta"].every((name) => Math.abs(row[name] - run[name]) <= 1e-6 * run[name]);

export const runOf = ({ mechanism, noise_multiplier, sampling, sample_rate, delta, adjacency, T }) =>
  ({ mechanism, noise_multiplier, sampling: sample_rate < 1 ? sampling : "none", sample_rate, delta, adjacency, here: T });

export const valueOf = (run, name) =>
  name === "B" ? run.B || Math.max(1, Math.round(run.sample_rate * run.N)) : run[name];

export const keyOf = (run) => KEYS.map((name) => run[name]).join();

/** Return the address of a run: fields that differ from their start, with N and B or the rate. */
export function written(run) {
  const { sample_rate, N, B, ...numbers } = FIELDS;
  const counts = { rate_from: {}, N: { ...N, start: 0 }, B };
  const state = {
    ...run, rate_from: "counts", accountants: run.shown.join(),
    y_axis: run.logEpsilon ? "log" : "linear", pinned: run.pin ? written({ ...fromAddress("").run, ...run.pin }) : "", steps: "",
  };
  const { rate_from, epochs, ...words } = wordsOf(OWN);
  return queryOf(state, { ...numbers, ...(run.B ? counts : { sample_rate }), ...words }).toString();
}

/** Return the run of an address, and its unread fields. `pin` is a run for comparison, at its own T. */
export function fromAddress(address, kinds = OWN) {
  const { state, unread } = opened(address, { ...FIELDS, ...wordsOf(kinds) });
  const { rate_from, y_axis, accountants, pinned: other, steps, epochs, ...numbers } = state;
  let run = { ...numbers, N: FIELDS.N.start, B: 0, shown: FIRST, logEpsilon: y_axis === "log", pin: null };
  if (rate_from === "counts") run = changed({ ...run, sample_rate: FIELDS.sample_rate.start, N: state.N }, "B", state.B || 600);
  if (run.sampling === "none") run = { ...run, sampling: "poisson", sample_rate: 1, B: 0 };
  const names = accountants.split(",");
  const shown = ACCOUNTANTS.filter((name) => names.includes(name));
  if (shown.length) run.shown = shown;
  if (other) run.pin = pinned(fromAddress(other.slice(0, 500), kinds).run);
  return { run, unread };
}

/** Return the fields of a run that a comparison needs. */
export const pinned = ({ N, B, T, ...run }) => ({ N, B, T, ...Object.fromEntries(KEYS.map((name) => [name, run[name]])) });

/** Return Python code that computes epsilon of a run. */
export function python(run) {
  const rate = run.B ? `${run.B} / ${run.N}` : String(run.sample_rate);
  const drawn = run.sample_rate < 1 ? run.sampling : "none";
  const named = drawn.endsWith("_drop_last") ? 'sampling="shuffled", drop_last=True' : `sampling="${drawn}"`;
  const sampling = drawn === "poisson" ? "" : `, ${named}`;
  const target = `delta=${run.delta}, adjacency="${run.adjacency}"`;
  if (run.mechanism === "gaussian") {
    return `from dplearn.run import DPSGD

plan = DPSGD(noise_multiplier=${run.noise_multiplier}, sample_rate=${rate}, steps=${run.T}${sampling})
print(plan.guarantee("pld", ${target}))
`;
  }
  return `from dplearn import MECHANISMS
from dplearn.mechanisms.sampling_scheme import sampled

noise = MECHANISMS["${run.mechanism}"](${run.noise_multiplier})
step = sampled(noise, sampling="${drawn}", sample_rate=${rate})
print(step.guarantee("pld", ${target}, steps=${run.T}))
`;
}
