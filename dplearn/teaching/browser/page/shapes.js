// Axes, SVG nodes, paths and positions of labels, for pictures of any content.
import { clamp } from "./numbers.js";

/** Pixel positions are clamped to this distance on either side. */
export const FAR = 3000;

export function el(tag, attributes = {}, ...children) {
  const node = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  node.append(...children);
  return node;
}

/** Set an attribute, or the text, only if it differs; null removes an attribute. */
export function set(node, name, value) {
  if (name === "text") {
    if (node.textContent !== value) node.textContent = value;
  } else if (value === null) node.removeAttribute(name);
  else if (node.getAttribute(name) !== value) node.setAttribute(name, value);
}

export const setAll = (node, attributes) => {
  for (const [name, value] of Object.entries(attributes)) set(node, name, typeof value === "number" ? value.toFixed(1) : value);
};

export const area = ({ left, right, top, bottom }) => ({ x: left, y: top, width: right - left, height: bottom - top });

let clips = 0;
/** Return a clip path: its rectangle, its definition, and the attribute of nodes that it clips. */
export function clipping() {
  const [id, rect] = [`dp-clip-${clips++}`, el("rect")];
  return { rect, defs: el("defs", {}, el("clipPath", { id }, rect)), inside: { "clip-path": `url(#${id})` } };
}

/** Return the box and the text of a label, which `pillAt` places. */
export const pill = () => [el("rect", { class: "dp-pill", rx: 11 }), el("text", { class: "dp-pilltext" })];

/** Set the ends of lines, and place their label in a box around (x, y). @param {any[]} nodes */
export function pillAt(nodes, ends, [x, y], width, words) {
  const [label, box, ...lines] = [...nodes].reverse();
  for (const line of lines) setAll(line, ends);
  setAll(box, { x: x - width / 2, y: y - 12, width, height: 24 });
  setAll(label, { x, y: y + 4.5, text: words });
}

export function describe(node, [low, high], value, words) {
  // ARIA numbers must not have an exponent.
  const plain = (x) => (typeof x === "number" && x && Math.abs(x) < 1e-6 ? x.toFixed(32) : String(x));
  for (const [key, one] of Object.entries({ valuemin: low, valuemax: high, valuenow: value, valuetext: words })) set(node, `aria-${key}`, plain(one));
}

let canvas = null;
/** Return the width of a text in a font, measured by a canvas without a layout. */
export function widthOf(words, font) {
  canvas ??= document.createElement("canvas").getContext("2d");
  canvas.font = font;
  return canvas.measureText(words).width;
}

/** Return an axis from `low` to `high` over the pixels `from` to `to`. */
export const axis = ({ low, high, log = false }, from, to) => ({
  low, high,
  share: (value) => (log ? Math.log(value / low) / Math.log(high / low) : (value - low) / (high - low)),
  at(value) {
    return clamp(from + this.share(value) * (to - from), -FAR, FAR);
  },
  /** Return the value at a pixel position, clamped to the axis. */
  value(place) {
    const share = clamp((place - from) / (to - from), 0, 1);
    return log ? low * (high / low) ** share : low + share * (high - low);
  },
});

/** Return the nodes of two axes within `sides`; `across` and `up` are ticks [value, label]; lines without labels are faint. */
export function grid(x, y, { left, right, top, bottom }, across, up, em = 14) {
  const line = (x1, y1, x2, y2, words) => el("line", { x1, y1, x2, y2, class: words ? "dp-grid" : "dp-grid dp-faint" });
  const label = (at, height, anchor, words) => el("text", { x: at, y: height, "text-anchor": anchor, class: "dp-scale" }, words);
  const row = (at, words) => [line(left, at, right, at, words), label(left - 0.5 * em, at + 0.32 * em, "end", words)];
  const column = (at, words) => [line(at, top, at, bottom, words), label(at, bottom + 1.3 * em, "middle", words)];
  return [
    ...up.flatMap(([value, words]) => row(y.at(value), words)),
    ...across.flatMap(([value, words]) => column(x.at(value), words)),
    el("line", { x1: left, y1: bottom, x2: right, y2: bottom, class: "dp-axis" }),
  ];
}

export const point = (x, y) => `${x.toFixed(1)} ${y.toFixed(1)}`;
export const straight = (points) => points.map(([x, y], i) => `${i ? "L" : "M"}${point(x, y)}`).join("");

/** Return cubics through all points, monotone where the points are (Fritsch & Carlson 1980; slopes by Steffen 1990). */
export function smooth(points) {
  if (!points.length) return "";
  const runs = points.slice(1).map(([x], i) => x - points[i][0]);
  const slopes = points.slice(1).map(([, y], i) => (y - points[i][1]) / runs[i]);
  const slope = points.map((_, i) => {
    if (i === 0 || i === points.length - 1) return slopes[Math.min(i, slopes.length - 1)] ?? 0;
    const [before, after] = [slopes[i - 1], slopes[i]];
    const mean = (before * runs[i] + after * runs[i - 1]) / (runs[i - 1] + runs[i]);
    const least = Math.min(Math.abs(before), Math.abs(after), 0.5 * Math.abs(mean));
    return (Math.sign(before) + Math.sign(after)) * least || 0;
  });
  return points.slice(1).reduce((path, [x, y], i) => {
    const [[x0, y0], third] = [points[i], runs[i] / 3];
    return `${path}C${point(x0 + third, y0 + third * slope[i])} ${point(x - third, y - third * slope[i + 1])} ${point(x, y)}`;
  }, `M${point(...points[0])}`);
}

/** Give each item a position `at` close to its `want`, in the same order and without overlap. */
export function apart(items, gap, low, high) {
  items.sort((a, b) => a.want - b.want);
  const half = (item) => (item.room ?? gap) / 2;
  items.forEach((item, i) => {
    const free = i ? items[i - 1].at + half(items[i - 1]) + half(item) : low + (item.room ?? 0) / 2;
    item.at = Math.max(item.want, free);
  });
  return raised(items, gap, high);
}

/** Raise items from the last one up, in the order of their positions, so that none overlap or lie below `high`. */
export function raised(items, gap, high = Infinity) {
  for (const item of items.toReversed()) {
    item.at = Math.min(item.at ?? item.want, high - (item.room ?? 0) / 2);
    high = item.at - (item.room ? item.room / 2 : gap);
  }
  return items;
}
