// The four scenes: each has a view (the span of the axes, curves and points) and words (headline, sentence, and a note
// on the setting). Only the scene's own results are in them, so that no result is visible before its scene.
import { bound, clamp, down, percent, text, up } from "../page/numbers.js";
import { end, judged, placed } from "./guess.js";

/** Return the numbers of a run, formatted for a sentence. */
export const numbers = ({ noise_multiplier, sample_rate, delta, T }) =>
  ({ noise_multiplier: text(noise_multiplier), sample_rate: percent(sample_rate), delta: text(delta), T: text(T) });

const room = (...values) => 1.2 * Math.max(...values.filter((value) => value < Infinity), 1e-3);
const highest = ({ points }) => Math.max(...points.map(([, epsilon]) => epsilon), 0);
const guessed = ({ guess, run, say }) => (guess ? [{ kind: "guess", points: placed(guess, run.T), name: say("yours") }] : []);
const proved = ({ truth, say }) => ({ kind: "pld", points: truth.curves.pld, name: say("exact") });

/** Return the sentence that compares the guess at its last step. */
function verdict({ guess, run, truth, say }) {
  const at = end(guess, run.T);
  const { verdict: kind, times } = judged(at.epsilon, truth.at(at.T).upper);
  return say(kind, { times: times === Infinity ? "1000+" : text(times), T: text(at.T) });
}

export const SCENES = [{
  /** Return a view whose height is a power of ten, which reveals little. */
  view(minute) {
    const { run, truth, guess, say } = minute;
    const top = 10 ** Math.ceil(Math.log10(3 * clamp(truth.at(run.T).upper, 1e-3, 1e5)));
    return { top, curves: guessed(minute), hint: guess ? "" : say("here") };
  },
  words: ({ run, say, unread, short }) => ({
    head: say("guess"),
    text: short ? say("further") : say("draw", numbers(run)),
    small: unread.length ? say("unread", { parts: unread.join(", ") }) : say("run", numbers(run)),
  }),
}, {
  view(minute) {
    const curves = [...guessed(minute), proved(minute)];
    return { top: room(...curves.map(highest)), curves };
  },
  words(minute) {
    const { run, truth, guess, say } = minute;
    const { lower, upper } = truth.at(run.T);
    return {
      head: say("truth", { epsilon: bound(upper) }),
      text: guess ? verdict(minute) : say("unguessed", numbers(run)),
      small: say(lower ? "proved" : "bounded", { lower: text(down(lower, 6)), upper: text(up(upper, 6)), neighbours: say(run.adjacency) }),
    };
  },
}, {
  view(minute) {
    const { truth, printed, say } = minute;
    const curves = [proved(minute), { kind: "moments", points: truth.curves.moments, name: say("paper") }];
    return { top: room(...curves.map(highest)), curves, ring: printed };
  },
  words({ run, truth, printed, say }) {
    const { upper, moments } = truth.at(run.T);
    return {
      head: printed ? say("printed", { printed: printed.value }) : say("counted", { moments: bound(moments) }),
      text: say("why", { epsilon: bound(upper), percent: text(down(100 * (moments / upper - 1), 2)) }),
      small: printed?.source ?? say("run", numbers(run)),
    };
  },
}, {
  view({ shuffled: { run, claim, lower, upper }, say }) {
    const mark = { T: run.T, lower, upper, from: claim.at(-1)[1], kind: "shuffled", name: say("shuffled") };
    return { last: run.T, top: room(upper), curves: [{ kind: "claim", points: claim, name: say("claim") }], mark };
  },
  words({ shuffled: { run, claim, lower, upper, before }, run: own, truth, say }) {
    const [, claimed] = claim.at(-1);
    const ends = { lower: text(down(lower, 4)), upper: bound(upper, 4) };
    const same = ["noise_multiplier", "sample_rate", "delta", "T"].every((name) => own[name] === before[name]);
    const later = () => {
      const { upper: epsilon } = truth.at(own.T);
      const known = { lower: text(down(before.lower, 3)), upper: bound(before.upper), epsilon: bound(epsilon) };
      return say(before.lower > epsilon ? "broken" : "unknown", known);
    };
    return {
      head: say("shuffle"),
      text: say("breaks", { ...ends, claim: bound(claimed), times: text(down(lower / claimed, 2)) }),
      small: `${say("epoch", { ...numbers(run), ...ends, neighbours: say(run.adjacency) })} ${same ? later() : ""}`,
    };
  },
}];
