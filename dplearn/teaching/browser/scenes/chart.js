// Picture of epsilon against T, redrawn from a view, which contains only the scene's content.
import { Axis, FAR, grid } from "../page/axis.js";
import { bound, clamp, digits, down, text, ticks } from "../page/numbers.js";
import { apart, el, smooth } from "../page/shapes.js";
import { placed } from "./guess.js";

/** Axes of a picture in pixels; `em` is the font size. */
export class Plane {
  constructor({ width, height, em }, { last, top }) {
    const sides = { left: 2.6 * em, right: width - 6.2 * em, top: 1.5 * em, bottom: height - 2 * em };
    this.em = em;
    this.width = width;
    this.last = last;
    this.top = top;
    this.sides = sides;
    this.T = new Axis({ low: 0, high: last }, sides.left, sides.right);
    this.epsilon = new Axis({ low: 0, high: top }, sides.bottom, sides.top);
    this.x = (/** @type {number} */ T) => this.T.at(T);
    this.y = (/** @type {number} */ epsilon) => this.epsilon.at(epsilon);
  }

  /** Return the values at a pixel position, clamped to the axes. */
  at([x, y]) {
    return [this.T.value(x), this.epsilon.value(y)];
  }
}

/** Return the nodes of a view; `stroke` is the guess being drawn, `say` returns texts. */
export function chart(plane, view, stroke, say) {
  const nodes = axes(plane, view, say);
  const shown = stroke.length ? [] : view.curves;
  const ends = shown.map((curve) => ending(plane, curve));
  nodes.push(...shown.map((curve) => line(plane, curve)));
  if (stroke.length > 1) nodes.push(line(plane, { kind: "guess", points: stroke }, true));
  // The value that a paper printed.
  if (view.ring) {
    const place = { cx: plane.x(view.ring.T), cy: plane.y(view.ring.epsilon) };
    nodes.push(el("circle", { class: "dm-ring dm-moments", ...place, r: 0.55 * plane.em }));
  }
  if (view.mark) nodes.push(...marked(plane, view.mark, ends));
  return [...nodes, ...labels(plane, ends)];
}

function axes(plane, view, say) {
  const { em, last, top, sides } = plane;
  const { left, right } = sides;
  const up = ticks(false, 0, top, 5).map(([value]) => [value, text(value)]);
  const nodes = grid(plane.T, plane.epsilon, sides, [[0, "0"], [last, say("steps", { T: text(last) })]], up, em);
  nodes.push(el("text", { x: left - 0.4 * em, y: sides.top - 0.6 * em, "text-anchor": "end", class: "dm-name" }, "ε"));
  if (view.hint) nodes.push(el("text", { x: (left + right) / 2, y: (sides.top + sides.bottom) / 2, "text-anchor": "middle", class: "dm-hint" }, view.hint));
  return nodes;
}

function line(plane, { kind, points }, rough = false) {
  const seen = points.map(([T, epsilon]) => [plane.x(T), plane.y(epsilon)]).filter(([, y]) => y > -FAR);
  const straight = (all) => all.map(([x, y], i) => `${i ? "L" : "M"}${x.toFixed(1)} ${y.toFixed(1)}`).join("");
  return el("path", { class: `dm-line dm-${kind}`, d: rough ? straight(seen) : smooth(seen) });
}

/** Return the end of a curve, with its value and its name. */
function ending(plane, { kind, points, name }) {
  const [T, epsilon] = points.at(-1);
  return { kind, x: plane.x(T), y: plane.y(epsilon), value: kind === "guess" ? text(digits(epsilon, 2)) : bound(epsilon), name };
}

/** Return the bracket at one step, and a line up to it from the claimed value. */
function marked(plane, { T, lower, upper, from, kind, name }, ends) {
  const x = plane.x(T);
  ends.push({ kind, x, y: plane.y(lower), value: `≥ ${text(down(lower, 4))}`, name });
  return [el("path", { class: `dm-line dm-${kind}`, d: `M${x} ${plane.y(from)}V${plane.y(lower)}` }), el("path", { class: `dm-span dm-${kind}`, d: `M${x} ${plane.y(lower)}V${plane.y(upper)}` })];
}

/** Return values and names right of the picture, without overlap. */
function labels(plane, ends) {
  const { em, width, sides: { right, bottom } } = plane;
  const wanted = ends.map((one) => ({ ...one, want: one.y, room: 2.5 * em }));
  return apart(wanted, 0, 0, bottom + 0.8 * em).flatMap(({ kind, x, y, at, value, name }) => {
    const far = Math.abs(at - y) > 0.6 * em || x < right - em;
    const link = { class: `dm-link dm-${kind}`, d: far ? `M${x.toFixed(1)} ${y.toFixed(1)}L${right + 0.5 * em} ${at.toFixed(1)}` : "" };
    const place = { x: Math.min(right + 0.7 * em, width), class: `dm-value dm-${kind}` };
    return [
      el("path", link),
      el("circle", { class: `dm-dot dm-${kind}`, cx: x, cy: y, r: 0.3 * em }),
      el("text", { ...place, y: at + 0.1 * em }, value),
      el("text", { ...place, y: at + 1.05 * em, class: `dm-what dm-${kind}` }, name),
    ];
  });
}

// Views of the scenes: the span of axes, curves and points. Only these are drawn, so that no result is
// visible before its scene.

/** Functions of the views in order, called when a scene is shown. */
export const VIEWS = [guessing, truth, paper, shuffle];

const room = (...values) => 1.2 * Math.max(...values.filter((value) => value < Infinity), 1e-3);
const highest = (curve) => Math.max(...curve.map(([, epsilon]) => epsilon), 0);
const drawn = (guess, T, name) => (guess ? [{ kind: "guess", points: placed(guess, T), name }] : []);

/** Return the view of the guess; its height is a power of ten, which reveals little. */
function guessing({ run, truth, guess, say }) {
  const { upper } = truth.at(run.T);
  const top = 10 ** Math.ceil(Math.log10(3 * clamp(upper, 1e-3, 1e5)));
  return { last: run.T, top, curves: drawn(guess, run.T, say("yours")), hint: guess ? "" : say("here") };
}

function truth({ run, truth, guess, say }) {
  const { pld } = truth.curves;
  const guesses = drawn(guess, run.T, say("yours"));
  const top = room(highest(pld), ...guesses.map((one) => highest(one.points)));
  return { last: run.T, top, curves: [...guesses, { kind: "pld", points: pld, name: say("exact") }] };
}

function paper({ run, truth, printed, say }) {
  const { pld, moments } = truth.curves;
  const bounds = [{ kind: "pld", points: pld, name: say("exact") }, { kind: "moments", points: moments, name: say("paper") }];
  return { last: run.T, top: room(highest(moments), highest(pld)), curves: bounds, ring: printed };
}

function shuffle({ shuffled: { run, claim, lower, upper }, say }) {
  const mark = { T: run.T, lower, upper, from: claim.at(-1)[1], kind: "shuffled", name: say("shuffled") };
  return { last: run.T, top: room(upper), curves: [{ kind: "claim", points: claim, name: say("claim") }], mark };
}
