// The four scenes: each has a view (the span of the axes, curves and points) and words (headline, sentence, and a note
// on the setting). Only the scene's own results are in them, so that no result is visible before its scene.
import { bound, clamp, digits, down, percent, text, ticks, up } from "../page/numbers.js";
import { FAR, apart, axis, el, grid, point, smooth, straight } from "../page/shapes.js";
import { end, placed } from "./guess.js";

/** Return the numbers of a run, formatted for a sentence. */
export const numbers = ({ noise_multiplier, sample_rate, delta, T }) =>
  ({ noise_multiplier: text(noise_multiplier), sample_rate: percent(sample_rate), delta: text(delta), T: text(T) });

const room = (...values) => 1.2 * Math.max(...values.filter((value) => value < Infinity), 1e-3);
const highest = ({ points }) => Math.max(...points.map(([, epsilon]) => epsilon), 0);
const guessed = ({ guess, run, say }) => (guess ? [{ kind: "guess", points: placed(guess, run.T), name: say("yours") }] : []);
const proved = ({ truth, say }) => ({ kind: "pld", points: truth.curves.pld, name: say("exact") });

/** Return the sentence that compares the guess at its last step: close (within 10 %), large or small. */
function verdict({ guess, run, truth, say }) {
  const { T, epsilon } = end(guess, run.T);
  const ratio = epsilon / truth.at(T).upper;
  const times = Math.max(ratio, 1 / ratio);
  const kind = Math.abs(ratio - 1) <= 0.1 ? "close" : ratio > 1 ? "large" : "small";
  return say(kind, { times: times < 1000 ? text(digits(times, 2)) : "1000+", T: text(T) });
}

export const SCENES = [{
  /** Return a view whose height is a power of ten, so that it reveals little. */
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
  view({ options: { shuffled: { run, claim, lower, upper } }, say }) {
    const mark = { T: run.T, lower, upper, from: claim.at(-1)[1], kind: "shuffled", name: say("shuffled") };
    return { last: run.T, top: room(upper), curves: [{ kind: "claim", points: claim, name: say("claim") }], mark };
  },
  words({ options: { shuffled: { run, claim, lower, upper, before } }, run: own, truth, say }) {
    const [, claimed] = claim.at(-1);
    const ends = { lower: text(down(lower, 4)), upper: bound(upper, 4) };
    // The bounds are proved for exactly these values.
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

/** Return the axes of a view in pixels; `em` is the font size. */
export function planeOf({ width, height, em }, { last, top }) {
  const sides = { left: 2.6 * em, right: width - 6.2 * em, top: 1.5 * em, bottom: height - 2 * em };
  const [x, y] = [axis({ low: 0, high: last }, sides.left, sides.right), axis({ low: 0, high: top }, sides.bottom, sides.top)];
  return { em, width, sides, x, y, place: ([T, epsilon]) => [x.at(T), y.at(epsilon)] };
}

/** Return the nodes of a view; `stroke` is the guess being drawn, `say` returns texts. */
export function chart(plane, view, stroke, say) {
  const { x, y, em, sides, sides: { left, right, top, bottom } } = plane;
  const shown = stroke.length ? [] : view.curves;
  const ends = shown.map(({ kind, points, name }) => {
    const [T, epsilon] = points.at(-1);
    return { kind, x: x.at(T), y: y.at(epsilon), value: kind === "guess" ? text(digits(epsilon, 2)) : bound(epsilon), name };
  });
  const nodes = [
    ...grid(x, y, sides, [[0, "0"], [x.high, say("steps", { T: text(x.high) })]], ticks(false, 0, y.high, 5), em),
    el("text", { x: left - 0.4 * em, y: top - 0.6 * em, "text-anchor": "end", class: "dm-name" }, "ε"),
    el("text", { x: (left + right) / 2, y: (top + bottom) / 2, "text-anchor": "middle", class: "dm-hint" }, view.hint ?? ""),
    ...shown.map(({ kind, points }) => line(kind, smooth(seen(plane, points)))),
  ];
  if (stroke.length > 1) nodes.push(line("guess", straight(seen(plane, stroke))));
  // The value that a paper printed.
  if (view.ring) nodes.push(el("circle", { class: "dm-ring dm-moments", cx: x.at(view.ring.T), cy: y.at(view.ring.epsilon), r: 0.55 * em }));
  if (view.mark) {
    // The bracket at one step, and a line up to it from the claimed value.
    const { T, lower, upper, from, kind, name } = view.mark;
    const [at, low] = [x.at(T), y.at(lower)];
    ends.push({ kind, x: at, y: low, value: `≥ ${text(down(lower, 4))}`, name });
    nodes.push(line(kind, `M${at} ${y.at(from)}V${low}`), el("path", { class: `dm-span dm-${kind}`, d: `M${at} ${low}V${y.at(upper)}` }));
  }
  return [...nodes, ...labels(plane, ends)];
}

const line = (kind, d) => el("path", { class: `dm-line dm-${kind}`, d });
const seen = ({ place }, points) => points.map(place).filter(([, height]) => height > -FAR);

/** Return values and names right of the picture, without overlap. */
function labels({ em, width, sides: { right, bottom } }, ends) {
  const items = ends.map((one) => ({ ...one, want: one.y, room: 2.5 * em }));
  return apart(items, 0, 0, bottom + 0.8 * em).flatMap(({ kind, x, y, at, value, name }) => {
    const far = Math.abs(at - y) > 0.6 * em || x < right - em;
    const place = { x: Math.min(right + 0.7 * em, width), class: `dm-value dm-${kind}` };
    return [
      el("path", { class: `dm-link dm-${kind}`, d: far ? `M${point(x, y)}L${right + 0.5 * em} ${at.toFixed(1)}` : "" }),
      el("circle", { class: `dm-dot dm-${kind}`, cx: x, cy: y, r: 0.3 * em }),
      el("text", { ...place, y: at + 0.1 * em }, value),
      el("text", { ...place, y: at + 1.05 * em, class: `dm-what dm-${kind}` }, name),
    ];
  });
}
