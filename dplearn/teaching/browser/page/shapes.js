// SVG nodes, paths and positions of labels, for pictures of any content.

const SVG = "http://www.w3.org/2000/svg";

/** Return a new SVG node. */
export function el(tag, attributes = {}, ...children) {
  const node = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  node.append(...children);
  return node;
}

const kept = new WeakMap();
/** Set an attribute, or the text, only if it differs from the last value. */
export function set(node, name, value) {
  const own = kept.get(node) ?? kept.set(node, {}).get(node);
  if (own[name] === value) return;
  own[name] = value;
  if (name === "text") node.textContent = value;
  else if (value === null) node.removeAttribute(name);
  else node.setAttribute(name, value);
}
/** Clear the stored values of a node after other code changed it. */
export const forget = (node) => kept.delete(node);

export const setAll = (node, attributes) => {
  for (const [name, value] of Object.entries(attributes)) {
    set(node, name, typeof value === "number" ? value.toFixed(1) : value);
  }
};

/** Set the ends of lines, and place their label in a box around (x, y). @param {any[]} nodes */
export function pillAt(nodes, ends, [x, y], width, words) {
  const [label, box, ...lines] = [...nodes].reverse();
  for (const line of lines) setAll(line, ends);
  setAll(box, { x: x - width / 2, y: y - 12, width, height: 24 });
  setAll(label, { x, y: y + 4.5, text: words });
}

// ARIA numbers must not have an exponent.
const plain = (value) => (typeof value === "number" && value && Math.abs(value) < 1e-6 ? value.toFixed(32) : String(value));
/** Set the ARIA range, value and text of a slider. */
export const describe = (node, [low, high], value, words) => {
  const told = { valuemin: low, valuemax: high, valuenow: value, valuetext: words };
  for (const [key, one] of Object.entries(told)) set(node, `aria-${key}`, plain(one));
};

let canvas = null;
const widths = new Map();
/** Return the width of a text in a font, measured by a canvas without a layout. */
export function widthOf(words, font) {
  const key = font + words;
  if (!widths.has(key)) {
    if (widths.size > 2000) widths.clear();
    canvas ??= document.createElement("canvas").getContext("2d");
    canvas.font = font;
    widths.set(key, canvas.measureText(words).width);
  }
  return widths.get(key);
}

/** Return cubics through all points, monotone where the points are (Fritsch & Carlson 1980; slopes by
 * Steffen 1990). */
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
  const word = (x, y) => `${x.toFixed(1)} ${y.toFixed(1)}`;
  return points.slice(1).reduce((path, [x, y], i) => {
    const [[x0, y0], third] = [points[i], runs[i] / 3];
    const first = word(x0 + third, y0 + third * slope[i]);
    return `${path}C${first} ${word(x - third, y - third * slope[i + 1])} ${word(x, y)}`;
  }, `M${word(...points[0])}`);
}

/** Give each item a position `at` close to its `want`, in the same order and without overlap. */
export function apart(items, gap, low, high) {
  items.sort((a, b) => a.want - b.want);
  const half = (item) => (item.room ?? gap) / 2;
  items.forEach((item, i) => {
    const free = i ? items[i - 1].at + half(items[i - 1]) + half(item) : low + (item.room ?? 0) / 2;
    item.at = Math.max(item.want, free);
  });
  let most = high;
  for (const item of [...items].reverse()) {
    item.at = Math.min(item.at, most - (item.room ?? 0) / 2);
    most = item.at - (item.room ? item.room / 2 : gap);
  }
  return items;
}
