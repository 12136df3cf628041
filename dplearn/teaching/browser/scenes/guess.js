// A guess: epsilon at some places along T, as drawn by a hand, judged, and sent in an address, which
// also says the run and the scene.
import { digits } from "../page/numbers.js";
import { fromAddress, written } from "../page/run.js";
import { LANGUAGES } from "./messages.js";

const PLACES = 16;
// A stroke that ends so near to a place, as a share of the axis, has reached it.
const REACH = 0.04;
// Fewer places than these are a slip of the finger.
const LEAST = 5;
// A guess so near to the truth is right.
const CLOSE = 0.1;

/** The places along T at which a guess is kept. */
export const places = (T) => Array.from({ length: PLACES }, (_, i) => (T * (i + 1)) / PLACES);

/** What is kept of a stroke [T, epsilon]: a value at each place, null where it was not; null where
 * it is too short. */
export function kept(stroke, T) {
  const values = stroke.length > 1 ? places(T).map((place) => between(stroke, place, REACH * T)) : [];
  return enough(values) ? values : null;
}

const enough = (values) => values.filter((value) => value !== null).length >= LEAST;

function between(stroke, place, slack) {
  const after = stroke.findIndex(([T]) => T >= place);
  const [T, epsilon] = stroke.at(after);
  if (after < 1) return Math.abs(T - place) <= slack ? digits(epsilon, 3) : null;
  const [before, low] = stroke[after - 1];
  return digits(low + ((place - before) / (T - before)) * (epsilon - low), 3);
}

/** The straight line to a height. */
export const straight = (epsilon) => places(1).map((share) => digits(share * epsilon, 3));

/** A guess as points of a curve. */
export const placed = (guess, T) => places(T).flatMap((place, i) => (guess[i] === null ? [] : [[place, guess[i]]]));

/** The guess that a part of an address says; null where that is none. */
function guessOf(text) {
  const values = (text ?? "").split("_").map((part) => (part === "" ? null : Number(part)));
  const good = values.length === PLACES && values.every((value) => value === null || (value >= 0 && value < 1e6));
  return good && enough(values) ? values : null;
}

/** The last place of a guess and its value there. */
export function end(guess, T) {
  const [place, epsilon] = placed(guess, T).at(-1);
  return { T: Math.max(1, Math.round(place)), epsilon: digits(epsilon, 2) };
}

/** How a guess compares: close, large or small, and by which factor. */
export function judged(guess, truth) {
  const ratio = guess / truth;
  if (Math.abs(ratio - 1) <= CLOSE) return { verdict: "close", times: 1 };
  const times = Math.max(ratio, 1 / ratio);
  return { verdict: ratio > 1 ? "large" : "small", times: times < 1000 ? digits(times, 2) : Infinity };
}

/** The run and the guesses that an address names; the scene from 0. */
export function readAddress(asked) {
  const all = new URLSearchParams(asked);
  const [guess, sent] = ["guess", "sent"].map((name) => guessOf(all.get(name)));
  return { ...fromAddress(asked), guess, sent, scene: Math.floor(Number(all.get("scene")) || 1) - 1 };
}

const query = (run, entries) => {
  const all = new URLSearchParams(written(run));
  for (const [name, value] of entries) if (value) all.set(name, value);
  return all.toString();
};
const languageOf = ({ language }) => ["language", language === LANGUAGES[0] ? "" : language];
const guessAs = (name, guess) => [name, guess?.map((value) => value ?? "").join("_")];

/** What opens the minute as it stands. */
export const addressOf = (minute) => query(minute.run, [
  guessAs("guess", minute.guess), guessAs("sent", minute.sent), ["scene", minute.scene && String(minute.scene + 1)],
]);

const OWN = /^(localhost|127(\.\d+){3}|\[::1\]|0\.0\.0\.0)$/;

/** The address of a page without its state; empty where only this machine can open it. */
export const placeOf = ({ protocol, hostname, pathname, origin }) =>
  (protocol === "file:" || OWN.test(hostname) ? "" : `${origin}${pathname.replace(/index\.html$/, "")}`);

/** What lets somebody else guess before they see the reader's guess. */
export const addressForOthers = (minute) => query(minute.run, [languageOf(minute), guessAs("sent", minute.guess)]);
