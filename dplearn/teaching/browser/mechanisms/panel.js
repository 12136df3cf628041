// One of the five pictures: its axes, where a value lies, and its title.
import { clamp, power, text, ticks } from "../page/numbers.js";
import { Axis } from "../page/axis.js";
import { Pool, el, pillAt, setAll } from "../page/shapes.js";

const MARGIN = { left: 56, right: 12, above: 34, below: 44 };
let count = 0;

export class Panel {
  /** `name` of the picture; a hand anywhere in it sets what `drag` says. */
  constructor(svg, name, drag) {
    const id = `dp-panel-${count++}`;
    this.group = svg.appendChild(el("g", { class: `dp-panel dp-at-${name}` }));
    const add = (tag, more = {}, to = this.group) => to.appendChild(el(tag, more));
    this.clip = el("rect");
    this.group.append(el("defs", {}, el("clipPath", { id }, this.clip)));
    this.pool = new Pool(add("g"));
    this.inside = add("g", { "clip-path": `url(#${id})` });
    this.title = add("text", { class: "dp-title" });
    this.nameX = add("text", { class: "dp-axisname", "text-anchor": "end" });
    this.nameY = add("text", { class: "dp-axisname", "text-anchor": "middle" });
    this.marks = add("g", { class: "dp-marks" });
    this.handle = add("g", { class: "dp-handle", "data-drag": drag, role: "slider", tabindex: 0 });
    this.handle.append(el("rect", { class: "dp-area" }), el("line", { class: "dp-here" }), el("rect", { class: "dp-pill", rx: 11 }), el("text", { class: "dp-pilltext" }));
  }

  /** A path that is drawn inside. */
  path(kind) {
    return this.inside.appendChild(el("path", { class: `dp-${kind}` }));
  }

  label(kind) {
    return this.marks.appendChild(el("text", { class: `dp-label dp-${kind}` }));
  }

  place(box) {
    this.box = box;
    this.sides = { left: box.x + MARGIN.left, right: box.x + box.width - MARGIN.right, top: box.y + MARGIN.above, bottom: box.y + box.height - MARGIN.below };
    const { left, right, top, bottom } = this.sides;
    setAll(this.clip, { x: left, y: top, width: right - left, height: bottom - top });
    setAll(this.handle.firstChild, { x: left, y: top, width: right - left, height: bottom - top + MARGIN.below - 16 });
  }

  /** Axes of these spans, and their words; an axis without ticks says nothing of its scale. */
  frame([spanX, spanY], { title, x, y, bare = false }) {
    const { left, right, top, bottom } = this.sides;
    this.x = new Axis(spanX, left, right);
    this.y = new Axis(spanY, bottom, top);
    const { pool } = this;
    for (const value of written(spanX, (right - left) / 70)) {
      const at = this.x.at(value);
      pool.put("line", { x1: at, y1: top, x2: at, y2: bottom, class: "dp-grid" });
      pool.put("text", { x: at, y: bottom + 17, text: said(value), class: "dp-tick-x" });
    }
    for (const value of bare ? [] : written(spanY, (bottom - top) / 40)) {
      const at = this.y.at(value);
      pool.put("line", { x1: left, y1: at, x2: right, y2: at, class: "dp-grid" });
      pool.put("text", { x: left - 7, y: at + 4.5, text: said(value), class: "dp-tick-y" });
    }
    pool.put("line", { x1: left, y1: bottom, x2: right, y2: bottom, class: "dp-axis" });
    pool.done();
    setAll(this.title, { x: left - 4, y: top - 14, text: title });
    setAll(this.nameX, { x: right, y: bottom + 37, text: x });
    setAll(this.nameY, { transform: `translate(${left - 47} ${(top + bottom) / 2}) rotate(-90)`, text: y });
  }

  /** The line that the hand holds, at a place of the axis, and what stands on it. */
  hold(value, words) {
    const { left, right, top, bottom } = this.sides;
    const x = clamp(this.x.at(value), left, right);
    const width = 8.2 * words.length + 18;
    const centre = clamp(x, left + width / 2 - 30, right - width / 2 + 8);
    pillAt([...this.handle.children].slice(1), { x1: x, x2: x, y1: top, y2: bottom }, [centre, bottom + 16], width, words);
  }

  /** A line through points [x, y] in values; what is not finite parts it. */
  line(points) {
    let pen = "M";
    return points.map(([x, y]) => {
      const [across, up] = [this.x.at(x), this.y.at(y)];
      if (!Number.isFinite(across + up)) {
        pen = "M";
        return "";
      }
      const word = `${pen}${across.toFixed(1)} ${up.toFixed(1)}`;
      pen = "L";
      return word;
    }).join("");
  }

  /** Upright bars as one path: [from, to, foot, top] each. */
  bars(all) {
    return all.map(([from, to, foot, top]) => {
      const [a, b, low, high] = [this.x.at(from), this.x.at(to), this.y.at(foot), this.y.at(top)].map((v) => v.toFixed(1));
      return low === high ? "" : `M${a} ${low}V${high}H${b}V${low}Z`;
    }).join("");
  }
}

/** The values at which an axis has words: from the least that is round. */
function written({ low, high, log }, room) {
  if (log) {
    const all = ticks(true, low, high, room).filter(([, is]) => is).map(([value]) => value);
    const every = Math.ceil(all.length / Math.max(room, 2));
    return all.filter((_, i) => i % every === 0);
  }
  const step = ticks(false, 0, high - low, Math.max(room, 2))[1]?.[0] ?? high - low;
  const first = Math.ceil(low / step - 1e-9);
  const last = Math.floor(high / step + 1e-9);
  return Array.from({ length: last - first + 1 }, (_, i) => Number(((first + i) * step).toPrecision(6)));
}

/** A value as it stands at an axis. */
const said = (value) => {
  const size = Math.abs(value);
  const words = size > 0 && size < 1e-3 && Number.isInteger(Math.log10(size)) ? power(Math.log10(size)) : text(size);
  return value < 0 ? `−${words}` : words;
};
