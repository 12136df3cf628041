// One of the five panels: axes, title, curves and marks.
import { clamp, ticks } from "../page/numbers.js";
import { area, axis, clipping, el, grid, pill, pillAt, setAll, straight } from "../page/shapes.js";

const MARGIN = { left: 56, right: 12, above: 34, below: 44 };

export class Panel {
  /** A drag anywhere in the panel moves its handle. */
  constructor(svg, name, label) {
    const { rect, defs, inside } = clipping();
    this.clip = rect;
    this.behind = el("g");
    this.inside = el("g", inside);
    this.marks = el("g", { class: "dp-marks" });
    this.handle = el("g", { class: "dp-handle", "data-drag": name, role: "slider", tabindex: 0, "aria-label": label },
      el("rect", { class: "dp-area" }), el("line", { class: "dp-here" }), ...pill());
    this.group = el("g", { class: `dp-panel dp-at-${name}` }, defs, this.behind, this.inside, this.marks, this.handle);
    svg.append(this.group);
  }

  place({ x, y, width, height }) {
    this.sides = { left: x + MARGIN.left, right: x + width - MARGIN.right, top: y + MARGIN.above, bottom: y + height - MARGIN.below };
    setAll(this.clip, area(this.sides));
    setAll(this.handle.firstChild, area({ ...this.sides, bottom: this.sides.bottom + MARGIN.below - 16 }));
  }

  /** Draw axes of these spans with their labels; `bare` leaves out the ticks of y. */
  frame([spanX, spanY], { title, x, y, bare = false }) {
    const { left, right, top, bottom } = this.sides;
    this.x = axis(spanX, left, right);
    this.y = axis(spanY, bottom, top);
    const turned = `translate(${left - 47} ${(top + bottom) / 2}) rotate(-90)`;
    this.behind.replaceChildren(
      ...grid(this.x, this.y, this.sides, written(spanX, (right - left) / 70), bare ? [] : written(spanY, (bottom - top) / 40)),
      el("text", { class: "dp-title", x: left - 4, y: top - 14 }, title),
      el("text", { class: "dp-scale", "text-anchor": "end", x: right, y: bottom + 37 }, x),
      el("text", { class: "dp-scale", "text-anchor": "middle", transform: turned }, y),
    );
  }

  /** Draw curves, by kind, inside the axes, and marks above them. */
  fill(curves, marks = []) {
    this.inside.replaceChildren(...Object.entries(curves).map(([kind, d]) => el("path", { class: `dp-${kind}`, d })));
    this.marks.replaceChildren(...marks);
  }

  label(kind, x, y, words, more = {}) {
    return el("text", { class: `dp-label dp-${kind}`, x, y, ...more }, words);
  }

  /** Return a dot at (x, y), moved to the edge if slightly outside; "" if far outside. */
  dot(name, x, y) {
    const { left, right, top, bottom } = this.sides;
    const [across, up] = [this.x.at(x), this.y.at(y)];
    if (!(across >= left - 1 && across <= right + 1 && up >= top - 1)) return "";
    return el("circle", { class: `dp-dot dp-dot-${name}`, r: 5.5, cx: clamp(across, left, right), cy: clamp(up, top, bottom) });
  }

  /** Place the handle's line at a value of the x axis, with its label. */
  hold(value, words) {
    const { left, right, top, bottom } = this.sides;
    const x = clamp(this.x.at(value), left, right);
    const width = 8.2 * words.length + 18;
    const centre = clamp(x, left + width / 2 - 30, right - width / 2 + 8);
    pillAt([...this.handle.children].slice(1), { x1: x, x2: x, y1: top, y2: bottom }, [centre, bottom + 16], width, words);
  }

  /** Return the path through points [x, y], interrupted at values that are not finite. */
  line(points) {
    const parts = [[]];
    for (const [x, y] of points) {
      const place = [this.x.at(x), this.y.at(y)];
      if (place.every(Number.isFinite)) parts.at(-1).push(place);
      else parts.push([]);
    }
    return parts.map(straight).join("");
  }

  curve(xs = [], ys = []) {
    return this.line(xs.map((x, i) => [x, ys[i]]));
  }

  /** Return vertical bars [from, to, foot, top] as one path. */
  bars(all) {
    return all.map(([from, to, foot, top]) => {
      const [a, b, low, high] = [this.x.at(from), this.x.at(to), this.y.at(foot), this.y.at(top)].map((v) => v.toFixed(1));
      return low === high ? "" : `M${a} ${low}V${high}H${b}V${low}Z`;
    }).join("");
  }
}

/** Return the labelled ticks of an axis as [value, text]. */
function written({ low, high, log }, space) {
  const room = Math.max(space, 2);
  const all = ticks(log, low, high, room).filter(([, label]) => label);
  const every = log ? Math.ceil(all.length / room) : 1;
  return all.filter((_, i) => i % every === 0);
}
