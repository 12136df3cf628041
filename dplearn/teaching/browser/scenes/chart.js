// Picture of epsilon against T, redrawn from a view, which contains only the scene's content.
import { bound, digits, down, text, ticks } from "../page/numbers.js";
import { FAR, apart, axis, el, grid, point, smooth, straight } from "../page/shapes.js";

/** Return the axes of a view in pixels; `em` is the font size. */
export function planeOf({ width, height, em }, { last, top }) {
  const sides = { left: 2.6 * em, right: width - 6.2 * em, top: 1.5 * em, bottom: height - 2 * em };
  const [x, y] = [axis({ low: 0, high: last }, sides.left, sides.right), axis({ low: 0, high: top }, sides.bottom, sides.top)];
  return { em, width, sides, x, y };
}

/** Return the nodes of a view; `stroke` is the guess being drawn, `say` returns texts. */
export function chart(plane, view, stroke, say) {
  const { x, y, em } = plane;
  const shown = stroke.length ? [] : view.curves;
  const ends = shown.map(({ kind, points, name }) => {
    const [T, epsilon] = points.at(-1);
    return { kind, x: x.at(T), y: y.at(epsilon), value: kind === "guess" ? text(digits(epsilon, 2)) : bound(epsilon), name };
  });
  const nodes = [...axes(plane, view, say), ...shown.map(({ kind, points }) => line(kind, smooth(seen(plane, points))))];
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

function axes({ em, sides, x, y }, view, say) {
  const { left, right, top, bottom } = sides;
  const nodes = grid(x, y, sides, [[0, "0"], [x.high, say("steps", { T: text(x.high) })]], ticks(false, 0, y.high, 5), em);
  nodes.push(el("text", { x: left - 0.4 * em, y: top - 0.6 * em, "text-anchor": "end", class: "dm-name" }, "ε"));
  if (view.hint) nodes.push(el("text", { x: (left + right) / 2, y: (top + bottom) / 2, "text-anchor": "middle", class: "dm-hint" }, view.hint));
  return nodes;
}

const line = (kind, d) => el("path", { class: `dm-line dm-${kind}`, d });
const seen = ({ x, y }, points) => points.map(([T, epsilon]) => [x.at(T), y.at(epsilon)]).filter(([, height]) => height > -FAR);

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
