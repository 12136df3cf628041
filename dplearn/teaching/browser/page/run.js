// The run that a reader has in hand: what can be set, in which range, and how an address says it.
import { ACCOUNTANTS, STYLES } from "./accountants.js";
import { nearest, read } from "./numbers.js";

/** Of each number: ends, digits that a drag keeps, pixels for a factor of ten, name in an address where it differs. */
export const FIELDS = {
  noise_multiplier: { ends: [0.2, 1000], digits: 3, pixels: 200 },
  sample_rate: { ends: [1e-7, 1], digits: 3, pixels: 120 },
  delta: { ends: [1e-30, 0.5], digits: 2, pixels: 60 },
  T: { ends: [1, 1e7], digits: 3, pixels: 120, key: "here", whole: true },
  budget: { ends: [0.01, 1000], digits: 3, pixels: 150 },
  rate: { ends: [1e-3, 0.5], digits: 2, pixels: 150, key: "false_alarms" },
  N: { ends: [1, 1e10], digits: 3, pixels: 100, key: "dataset_size", whole: true },
  B: { ends: [1, 1e10], digits: 3, pixels: 120, key: "batch_size", whole: true },
};
export const FIRST = ["basic", "moments", "pld"];
/** B is 0 where the rate itself is given; `pin` is a run to compare with, at its own T. */
const START = {
  noise_multiplier: 4, sample_rate: 0.01, delta: 1e-5, T: 10_000, budget: 2, rate: 0.01, N: 60_000, B: 0,
  adjacency: "add_remove", shown: FIRST, logT: true, logEpsilon: false, pin: null,
  mechanism: "gaussian", sampling: "poisson",
};
// All that a curve depends on, and what makes a run beside it.
const KEYS = ["noise_multiplier", "sample_rate", "delta", "adjacency", "mechanism", "sampling"];
const KINDS = ["mechanism", "sampling", "adjacency"];
// What an address may name beside the numbers.
const NAMES = new Set([...Object.entries(FIELDS).map(([name, { key = name }]) => key), ...KINDS, "rate_from", "steps", "epochs", "accountants", "x_axis", "y_axis", "pinned", "language"]);
const ADJACENCIES = ["add_remove", "zero_out", "replace_one"];
/** What kinds of runs there are where no server is asked: name in the address and on the screen. */
export const OWN = { mechanism: { gaussian: "" }, sampling: { poisson: "" } };

/** The value that a field allows nearest to a number. */
export const allowed = (name, value) => nearest(FIELDS[name], value);

/** A run with one number changed; what follows from it follows. */
export const changed = (run, name, value, kinds = OWN) => {
  const next = { ...run, [name]: allowed(name, value) };
  if (name === "sample_rate") next.B = 0;
  if (name === "B") next.B = Math.min(next.B, next.N);
  if (name === "N") next.B = Math.min(next.B || Math.round(run.sample_rate * next.N) || 1, next.N);
  if (next.B) next.sample_rate = next.B / next.N;
  if (kinds === OWN && !proved(next)) next.adjacency = "add_remove";
  return next;
};

/** Whether the engine proves the run; the others, as a replaced record on a sample, are asked of a
 * server. */
export const proved = ({ mechanism, sampling, shown, sample_rate, adjacency }) =>
  mechanism === "gaussian" && sampling === "poisson" && !shown.some((name) => STYLES[name]?.served)
  && (sample_rate === 1 || adjacency !== "replace_one");

/** A run as the server reads it, under the library's names. */
export const runOf = ({ mechanism, noise_multiplier, sampling, sample_rate, delta, adjacency, T }) =>
  ({ mechanism, noise_multiplier, sampling: sample_rate < 1 ? sampling : "none", sample_rate, delta, adjacency, here: T });

/** The number that a handle shows. */
export const valueOf = (run, name) =>
  name === "B" ? run.B || Math.max(1, Math.round(run.sample_rate * run.N)) : run[name];

/** All that a curve depends on, as a key. */
export const keyOf = (run) => KEYS.map((name) => run[name]).join();

/** The address of a run: what differs from the first picture. */
export function written(run) {
  const counts = run.B > 0;
  const out = Object.entries(FIELDS)
    .filter(([name]) => run[name] !== START[name] && !(counts ? name === "sample_rate" : "NB".includes(name)))
    .map(([name, { key = name }]) => [key, String(run[name])]);
  if (counts) {
    out.push(["rate_from", "counts"]);
    for (const name of ["N", "B"]) {
      if (run[name] === START[name]) out.push([FIELDS[name].key, String(run[name])]);
    }
  }
  for (const name of KINDS) if (run[name] !== START[name]) out.push([name, run[name]]);
  if (run.shown.join() !== FIRST.join()) out.push(["accountants", run.shown.join()]);
  if (!run.logT) out.push(["x_axis", "linear"]);
  if (run.logEpsilon) out.push(["y_axis", "log"]);
  if (run.pin) out.push(["pinned", written({ ...START, ...run.pin })]);
  return new URLSearchParams(out).toString();
}

/** The run of an address, and what it says in vain: numbers out of range, runs of another kind. */
export function fromAddress(address, kinds = OWN) {
  const all = new URLSearchParams(address);
  const unread = [...all.keys()].filter((key) => !NAMES.has(key)).slice(0, 3);
  let run = { ...START };
  for (const key of ["mechanism", "sampling"]) {
    const said = all.get(key) ?? START[key];
    if (said in kinds[key]) run[key] = said;
    else if (said !== "none") unread.push(`${key}=${said}`);
  }
  const numbers = new Map();
  for (const [name, { key = name }] of Object.entries(FIELDS)) {
    if (!all.has(key)) continue;
    const value = read(all.get(key));
    if (allowed(name, value) === value) numbers.set(name, value);
    else unread.push(`${key}=${all.get(key)}`);
  }
  // Where nothing says at which T to read, it is where the curves were to end.
  const last = read(all.get("steps") ?? "");
  if (!numbers.has("T") && allowed("T", last) === last) numbers.set("T", last);
  const counts = all.get("rate_from") === "counts";
  for (const [name, value] of numbers) {
    if (counts ? name !== "sample_rate" : !"NB".includes(name)) run[name] = value;
  }
  if (counts) run = changed(run, "B", numbers.get("B") ?? 600, kinds);
  if (all.get("sampling") === "none") run = { ...run, sample_rate: 1, B: 0 };
  if (ADJACENCIES.includes(all.get("adjacency"))) run.adjacency = all.get("adjacency");
  if (kinds === OWN && !proved(run)) {
    run.adjacency = "add_remove";
    unread.push("adjacency=replace_one");
  }
  const names = (all.get("accountants") ?? "").split(",");
  const shown = ACCOUNTANTS.filter((name) => names.includes(name));
  if (shown.length) run.shown = shown;
  run.logT = all.get("x_axis") !== "linear";
  run.logEpsilon = all.get("y_axis") === "log";
  if (all.get("pinned")) run.pin = pinned(fromAddress(all.get("pinned").slice(0, 500), kinds).run);
  return { run, unread };
}

/** What is kept of a run to compare with. */
export const pinned = ({ N, B, T, ...run }) => ({ N, B, T, ...Object.fromEntries(KEYS.map((name) => [name, run[name]])) });
