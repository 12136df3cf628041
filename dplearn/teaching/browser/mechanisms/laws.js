// Closed forms of one pair of neighbouring outputs (P, Q) with the loss L = ln dP/dQ: log delta, tails
// of the loss, Renyi divergence, true positive rate, and the two distributions.
// Counterparts of the files of the same names in dplearn/mechanisms, which cite the sources.
import { erfcx, gaussianLogDelta } from "../gaussian.js";
import { logAdd } from "../line.js";
import { decreasingRoot } from "../search.js";
import { Atoms, log1mexp } from "./atoms.js";

// Laws are drawn down to a thousandth of their maximum.
const LOW = Math.log(1000);

/** Return P(N > z) for standard normal N. */
const normalTail = (z) => (z < -1 ? 1 - normalTail(-z) : 0.5 * Math.exp(-0.5 * z * z) * erfcx(z * Math.SQRT1_2));

/** Return the z with P(N > z) = rate in (0, 1). */
const normalQuantile = (rate) => (rate > 0.5 ? -normalQuantile(1 - rate) : decreasingRoot((z) => normalTail(z) - rate, 0, 38));

/** Return the densities of one noise around `shift` (P) and around 0 (Q) at ascending points. */
function ofNoise(density, shift, reach, whole) {
  const [low, high] = whole ? [-Math.ceil(reach), shift + Math.ceil(reach)] : [-reach, shift + reach];
  const count = whole ? high - low : 240;
  const stride = whole ? Math.ceil(count / 150) : 1;
  const places = Array.from({ length: Math.floor(count / stride) + 1 }, (_, i) => low + ((high - low) * i * stride) / count);
  const x = whole ? places : [...new Set([...places, 0, shift])].sort((a, b) => a - b);
  return { whole, x, p: x.map((at) => density(at - shift)), q: x.map(density), label: whole ? "whole" : "number" };
}

function gaussian({ noise_multiplier: sigma }, distance) {
  const mu = distance / sigma;
  const density = (x) => Math.exp(-0.5 * (x / sigma) ** 2) / (sigma * Math.sqrt(2 * Math.PI));
  return {
    logDelta: (epsilon) => gaussianLogDelta(epsilon, mu),
    tails: (x) => [normalTail(x / mu - mu / 2), normalTail(x / mu + mu / 2)],
    renyi: (order) => 0.5 * order * mu * mu,
    true_positive_rate: (rate) => normalTail(normalQuantile(rate) - mu),
    outputs: ofNoise(density, distance, Math.sqrt(2 * LOW) * sigma, false),
  };
}

function laplace({ noise_multiplier: b }, distance) {
  const pure = distance / b;
  const tails = (x) => {
    if (x >= pure) return [0, 0];
    if (x < -pure) return [1, 1];
    return [1 - 0.5 * Math.exp((x - pure) / 2), 0.5 * Math.exp(-(x + pure) / 2)];
  };
  /** Return D_order, by Mironov (2017), Proposition 6. */
  const renyi = (order) => {
    const [more, whole] = [order - 1, 2 * order - 1];
    // For a sum near 1: its excess over 1.
    if (more * pure < 1) return Math.log1p((order * Math.expm1(more * pure) + more * Math.expm1(-order * pure)) / whole) / more;
    const [up, down] = [Math.log(order / whole) + more * pure, Math.log(more / whole) - order * pure];
    return logAdd(up, down) / more;
  };
  const true_positive_rate = (rate) => {
    if (rate < 0.5 * Math.exp(-pure)) return Math.exp(pure + Math.log(rate));
    return 1 - Math.exp(-pure) * (rate <= 0.5 ? 0.25 / rate : 1 - rate);
  };
  return {
    logDelta: (epsilon) => (epsilon < pure ? log1mexp((epsilon - pure) / 2) : -Infinity),
    tails, renyi, true_positive_rate,
    corners: [0.5 * Math.exp(-pure), 0.5],
    outputs: ofNoise((x) => Math.exp(-Math.abs(x) / b) / (2 * b), distance, LOW * b, false),
  };
}

function randomizedResponse({ local_epsilon: epsilon, answers }) {
  const total = logAdd(epsilon, Math.log(answers - 1));
  const [logP, logR] = [epsilon - total, -total];
  // Answers that are true under neither P nor Q have loss 0.
  const others = answers > 2 ? [[0, logR + Math.log(answers - 2)]] : [];
  const atoms = [[-epsilon, logR], ...others, [epsilon, logP]];
  const x = Array.from({ length: answers }, (_, i) => i);
  const chance = (true_) => x.map((at) => Math.exp(at === true_ ? logP : logR));
  const outputs = { whole: true, x, p: chance(0), q: chance(1), label: "answer" };
  return Object.assign(new Atoms(atoms.map(([loss]) => loss), atoms.map(([, log]) => log)), { outputs });
}

function geometric({ noise_multiplier, sensitivity }, distance) {
  const [shift, rate] = [distance * sensitivity, 1 / (noise_multiplier * sensitivity)];
  const k = Array.from({ length: shift + 1 }, (_, i) => i);
  const logNorm = Math.log(Math.tanh(rate / 2));
  const logTail = logNorm - log1mexp(-rate);
  // All outcomes <= 0 have the same loss, and so have all outcomes >= shift.
  const logs = k.map((i) => (i === shift ? logTail : i ? logNorm - rate * (shift - i) : logTail - rate * shift));
  const density = (x) => Math.exp(logNorm - rate * Math.abs(x));
  return Object.assign(new Atoms(k.map((i) => (2 * i - shift) * rate), logs), { outputs: ofNoise(density, shift, LOW / rate, true) });
}

const LAWS = { gaussian, laplace, randomized_response: randomizedResponse, geometric };
export const CLOSED = Object.keys(LAWS);

/** Return the law of a mechanism with these parameters, or null without a closed form. */
export function closedForm(mechanism, parameters, adjacency) {
  return LAWS[mechanism]?.(parameters, adjacency === "replace_one" ? 2 : 1) ?? null;
}
