// Texts of each scene: headline, sentence, and a note on the setting.
import { bound, down, percent, text, up } from "../page/numbers.js";
import { end, judged } from "./guess.js";

/** Return the numbers of a run, formatted for a sentence. */
export const numbers = ({ noise_multiplier, sample_rate, delta, T }) =>
  ({ noise_multiplier: text(noise_multiplier), sample_rate: percent(sample_rate), delta: text(delta), T: text(T) });

/** Return the sentence that compares the guess at its last step. */
function verdict({ guess, run, truth, say }) {
  const at = end(guess, run.T);
  const { verdict: kind, times } = judged(at.epsilon, truth.at(at.T).upper);
  return say(kind, { times: times === Infinity ? "1000+" : text(times), T: text(at.T) });
}

const told = [
  ({ run, say, unread, short }) => ({
    head: say("guess"),
    text: short ? say("further") : say("draw", numbers(run)),
    small: unread.length ? say("unread", { parts: unread.join(", ") }) : say("run", numbers(run)),
  }),
  (minute) => {
    const { run, truth, guess, say } = minute;
    const { lower, upper } = truth.at(run.T);
    const ends = { lower: lower && text(down(lower, 6)), upper: text(up(upper, 6)) };
    const neighbours = say(run.adjacency);
    return {
      head: say("truth", { epsilon: bound(upper) }),
      text: guess ? verdict(minute) : say("unguessed", numbers(run)),
      small: say(lower ? "proved" : "bounded", { ...ends, neighbours }),
    };
  },
  ({ run, truth, printed, say }) => {
    const { upper, moments } = truth.at(run.T);
    const excess = text(down(100 * (moments / upper - 1), 2));
    return {
      head: printed ? say("printed", { printed: printed.value }) : say("counted", { moments: bound(moments) }),
      text: say("why", { epsilon: bound(upper), percent: excess }),
      small: printed?.source ?? say("run", numbers(run)),
    };
  },
  ({ shuffled: { run, claim, lower, upper, before }, run: own, truth, say }) => {
    const [, claimed] = claim.at(-1);
    const ends = { lower: text(down(lower, 4)), upper: bound(upper, 4) };
    const times = text(down(lower / claimed, 2));
    const of = { ...numbers(run), ...ends, neighbours: say(run.adjacency) };
    const same = before && ["noise_multiplier", "sample_rate", "delta", "T"].every((name) => own[name] === before[name]);
    const known = () => ({ lower: text(down(before.lower, 3)), upper: bound(before.upper), epsilon: bound(truth.at(own.T).upper) });
    const verdict = () => (before.lower > truth.at(own.T).upper ? "broken" : "unknown");
    return {
      head: say("shuffle"),
      text: say("breaks", { ...ends, claim: bound(claimed), times }),
      small: `${say("epoch", of)} ${same ? say(verdict(), known()) : ""}`,
    };
  },
];

/** Return headline, sentence and note of the current scene. */
export const sentences = (minute) => told[minute.scene](minute);
