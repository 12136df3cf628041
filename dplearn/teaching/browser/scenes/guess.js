// A guess of epsilon at several steps, its address, and the true values.
import { Answers, least } from "../page/answers.js";
import { digits } from "../page/numbers.js";
import { fromAddress, written } from "../page/run.js";

const PLACES = 16;

/** Return the steps at which a guess is stored. */
const places = (T) => Array.from({ length: PLACES }, (_, i) => (T * (i + 1)) / PLACES);
// Strokes that reach fewer places are ignored as accidental.
const enough = (values) => values.filter((value) => value !== null).length >= 5;

/** Return the guess of a stroke [T, epsilon]: a value at each place, null where the stroke ends more than 4 % of the
 * axis away; null if the stroke is too short. */
export function guessOf(stroke, T) {
  const values = stroke.length > 1 ? places(T).map((place) => between(stroke, place, 0.04 * T)) : [];
  return enough(values) ? values : null;
}

function between(stroke, place, slack) {
  const after = stroke.findIndex(([T]) => T >= place);
  const [T, epsilon] = stroke.at(after);
  if (after < 1) return Math.abs(T - place) <= slack ? digits(epsilon, 3) : null;
  const [before, low] = stroke[after - 1];
  return digits(low + ((place - before) / (T - before)) * (epsilon - low), 3);
}

export const straight = (epsilon) => places(1).map((share) => digits(share * epsilon, 3));

export const placed = (guess, T) => places(T).flatMap((place, i) => (guess[i] === null ? [] : [[place, guess[i]]]));

export function end(guess, T) {
  const [place, epsilon] = placed(guess, T).at(-1);
  return { T: Math.max(1, Math.round(place)), epsilon: digits(epsilon, 2) };
}

/** Return run, guess and scene (from 0) of an address; the guess is null if it is invalid. */
export function readAddress(address) {
  const all = new URLSearchParams(address);
  const values = (all.get("guess") ?? "").split("_").map((part) => (part === "" ? null : Number(part)));
  const good = values.length === PLACES && enough(values) && values.every((value) => value === null || (value >= 0 && value < 1e6));
  const scene = Math.floor(Number(all.get("scene")) || 1) - 1;
  for (const name of ["guess", "scene"]) all.delete(name);
  return { ...fromAddress(all.toString()), guess: good ? values : null, scene };
}

export function addressOf({ run, guess, scene }) {
  const all = new URLSearchParams(written(run));
  if (guess) all.set("guess", guess.map((value) => value ?? "").join("_"));
  if (scene) all.set("scene", String(scene + 1));
  return all.toString();
}

/** Bounds of a run: curves over its steps, and both ends at one step. */
export class Truth {
  constructor(engine, run) {
    this.answers = new Answers(engine);
    this.run = run;
  }

  /** Curves [T, epsilon] of PLD, with RDP where PLD is null, and of the moments accountant. */
  get curves() {
    if (this.drawn) return this.drawn;
    const { T } = this.run;
    // More points at the start, where curves are steep.
    const shares = Array.from({ length: 60 }, (_, i) => Math.round(T * ((i + 1) / 60) ** 2));
    const steps = [...new Set([1, ...shares, ...places(T).map(Math.round)])].filter((t) => t >= 1).sort((a, b) => a - b);
    const { pld, moments, rdp } = this.answers.engine.curves(this.run, steps, { accountants: ["pld", "moments", "rdp"] });
    const line = (ends) => steps.map((t, i) => [t, ends[i]]).filter(([, epsilon]) => epsilon < Infinity);
    return (this.drawn = { pld: line(pld.upper.map((end, i) => end ?? rdp.upper[i])), moments: line(moments.upper) });
  }

  /** Return both ends at T; the lower end is null where PLD is null. */
  at(T) {
    const { moments, ...ends } = this.answers.at(this.run, T, ["pld", "rdp", "moments"]);
    const { name, value } = least(ends);
    return { lower: ends[name].lower, upper: value, moments: moments.upper };
  }
}
