// What each scene draws: the span of its axes, its curves and its points. Nothing else is drawn, so
// that nothing can be read before its scene.
import { clamp } from "../page/numbers.js";
import { points } from "./guess.js";

/** The views, in order; each is asked for when it is shown. */
export const VIEWS = [guessing, truth, paper, shuffle];

const room = (...values) => 1.2 * Math.max(...values.filter((value) => value < Infinity), 1e-3);
const highest = (curve) => Math.max(...curve.map(([, epsilon]) => epsilon), 0);
const drawn = (kind, guess, T, name) => (guess ? [{ kind, points: points(guess, T), name }] : []);

/** An empty plane; its height is a power of ten, which tells little. */
function guessing({ run, truth, guess, say }) {
  const { upper } = truth.at(run.T);
  const top = 10 ** Math.ceil(Math.log10(3 * clamp(upper, 1e-3, 1e5)));
  return { last: run.T, top, curves: drawn("guess", guess, run.T, say("yours")), hint: guess ? "" : say("here") };
}

function truth({ run, truth, guess, sent, say }) {
  const { pld } = truth.curves;
  const guesses = [...drawn("sent", sent, run.T, say("theirs")), ...drawn("guess", guess, run.T, say("yours"))];
  const top = room(highest(pld), ...guesses.map((one) => highest(one.points)));
  return { last: run.T, top, curves: [...guesses, { kind: "pld", points: pld, name: say("exact"), fresh: true }] };
}

function paper({ run, truth, printed, say }) {
  const { pld, moments } = truth.curves;
  const bounds = [{ kind: "pld", points: pld, name: say("exact") }, { kind: "moments", points: moments, name: say("paper"), fresh: true }];
  return { last: run.T, top: room(highest(moments), highest(pld)), curves: bounds, ring: printed };
}

function shuffle({ shuffled: { run, claim, lower, upper }, say }) {
  const mark = { T: run.T, lower, upper, from: claim.at(-1)[1], kind: "shuffled", name: say("shuffled") };
  return { last: run.T, top: room(upper), curves: [{ kind: "claim", points: claim, name: say("claim") }], mark };
}
