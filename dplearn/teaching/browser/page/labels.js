// Labels without overlap: values at the T line, and names at the ends of curves.
import { least } from "./answers.js";
import { bound, clamp } from "./numbers.js";
import { ACCOUNTANTS, STYLES } from "./run.js";
import { apart, el, point, raised, widthOf } from "./shapes.js";

/** Return the values at the T line. Because curves rise, values above PLD are placed left of the line and above their
 * dots, PLD and lower values right of the line and below their dots, so that no number covers a curve. */
export function values(run, view, words) {
  const { frame, frame: { sides: { left, top, bottom }, box: { width, small } } } = view;
  const x = frame.x.at(run.T);
  const [above, below] = [[], []];
  const ceiling = view.best.value * (1 + 1e-6);
  const standing = run.shown.flatMap((name) => {
    const end = view.ends[name]?.upper ?? null;
    if (name === "pld" && end === null && !view.found.asked) return [[name, view.best.value]];
    return end > 0 ? [[name, end]] : [];
  });
  if (view.pinned) standing.push(["pinned", least(view.pinned.ends).value]);
  const dots = standing.flatMap(([name, value]) => {
    const y = frame.y.at(value);
    const off = y < top || value === Infinity;
    const sign = `${off ? "↑ " : ""}${STYLES[name].approximation ? "≈ " : ""}`;
    const item = { name, y, off, words: `${sign}${bound(value)}${name === "pinned" ? " ◌" : ""}` };
    // Values off the scale are still ordered.
    if (value > ceiling && x - left > (small ? 60 : 76)) above.push({ ...item, want: off ? top + 10 - 1e-6 * Math.min(value, 1e6) : y - 12 });
    else below.push({ ...item, want: name === "pld" ? y + 20 : clamp(y, top + 10, bottom) });
    return off || y > bottom ? [] : [el("path", { class: `dp-dot ${STYLES[name].classes}`, d: STYLES[name].outline, transform: `translate(${point(x, y)})` })];
  });
  const gap = small ? 17 : 19;
  // Place values upwards from the lowest, so that none moves below its own curve.
  raised(above.sort((a, b) => a.want - b.want), gap);
  if (above[0]?.at < top + 10) apart(above, gap, top + 10, bottom - 6);
  apart(below, gap, top + 10, bottom - 8);
  const side = x + (small ? 76 : 84) > width ? -1 : 1;
  const texts = [...above.map((item) => written(item, x, -1)), ...below.map((item) => written(item, x, side))];
  const lowest = Math.max(top, ...below.map((item) => item.at));
  const hinted = !view.touched && !view.found.asked && !small && standing.length && lowest + 34 < bottom && x < width - 150;
  const hint = hinted ? [el("text", { class: "dp-hint", x: x + 16, y: Math.min(lowest + 30, bottom - 8) }, words.pull)] : [];
  return [...dots, ...texts.flat(), ...hint];
}

/** Return a value beside the T line, with a leader line to a distant dot. */
function written({ name, at, y, off, words }, line, side) {
  const { classes } = STYLES[name];
  const x = line + side * (name === "pld" ? 16 : 14);
  const value = el("text", { class: `dp-value ${classes}`, x, y: at + 5, "text-anchor": side < 0 ? "end" : "start" }, words);
  if (off || Math.abs(at - y) < 22) return [value];
  return [el("path", { class: `dp-leader ${classes}`, d: `M${line + side * 5} ${y}L${line + side * 11} ${at}` }), value];
}

/** Return the names of curves at their ends on the right side or the top edge. */
export function names(run, { frame, found }, { code }) {
  const { left, right, top, bottom } = frame.sides;
  const [sides, tops] = [[], []];
  for (const name of ACCOUNTANTS) {
    const end = run.shown.includes(name) ? ending(frame, found, name) : null;
    if (!end) continue;
    const [x, y] = end;
    const room = widthOf(STYLES[name].label[code], frame.box.named) + 10;
    if (y <= top) tops.push({ name, want: clamp(x, left + 20, right - 10), room });
    else sides.push({ name, want: Math.min(y, bottom), y });
  }
  const label = (name, x, y, anchor) => el("text", { class: `dp-name ${STYLES[name].classes}`, x, y, "text-anchor": anchor }, STYLES[name].label[code]);
  return [
    ...apart(tops, 0, left, frame.box.width).map(({ name, at }) => label(name, at, top - 10, "middle")),
    ...apart(sides, 18, top + 4, bottom - 2).flatMap(({ name, at, y }) => [
      el("path", { class: `dp-leader ${STYLES[name].classes}`, d: `M${right} ${y}L${right + 12} ${at}` }),
      label(name, right + 16, at + 4.5, "start"),
    ]),
  ];
}

/** Return the pixel position where a curve leaves the plot, or null if it is not drawn. */
function ending(frame, found, name) {
  const { right, top } = frame.sides;
  let last = null;
  for (const [i, upper] of (found.of[name]?.upper ?? []).entries()) {
    const epsilon = name === "pld" && upper === null ? found.of.rdp?.upper[i] : upper;
    if (!(epsilon > 0)) continue;
    const [x, y] = frame.place([found.steps[i], epsilon]);
    const share = (edge, a, b) => (edge - a) / (b - a);
    if (y < top && x <= right) return [last ? last[0] + share(top, last[1], y) * (x - last[0]) : x, top];
    if (x > right) return last && [right, last[1] + share(right, last[0], x) * (y - last[1])];
    last = [x, y];
  }
  return last;
}
