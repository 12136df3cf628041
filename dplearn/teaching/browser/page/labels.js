// Values on the T line and names at the ends of curves, apart from each other.
import { ACCOUNTANTS, STYLES } from "./accountants.js";
import { least } from "./answers.js";
import { bound } from "./numbers.js";
import { apart, el, set, setAll, widthOf } from "./shapes.js";

export class Labels {
  constructor(group, words) {
    const make = (tag, kind, more = {}) => (name) => [name, group.appendChild(el(tag, { class: `dp-${kind} ${STYLES[name].classes}`, ...more }))];
    this.every = [...ACCOUNTANTS, "pinned"];
    const all = (...how) => Object.fromEntries(this.every.map(make(...how)));
    this.leaders = all("path", "leader");
    this.dots = all("path", "dot");
    this.values = all("text", "value");
    this.links = all("path", "leader");
    this.names = all("text", "name");
    this.hint = group.appendChild(el("text", { class: "dp-hint" }));
    this.words = words;
    for (const name of this.every) set(this.dots[name], "d", STYLES[name].outline);
    for (const name of ACCOUNTANTS) {
      const title = el("title");
      title.textContent = STYLES[name].about[words.code];
      this.names[name].append(title, STYLES[name].label[words.code]);
    }
  }

  draw(run, view) {
    this.run = run;
    this.view = view;
    this.frame = view.frame;
    this.drawValues();
    this.drawNames();
  }

  /** Curves rise: what lies above PLD stands left of the line, above its dot; PLD and what lies
   * below stand right of it, below. So no number lies on a curve. */
  drawValues() {
    const { run, view, frame } = this;
    const [{ left, top, bottom }, { width, small }] = [frame.sides, frame.box];
    const x = frame.x(run, run.T);
    const [above, below] = [[], []];
    const ceiling = view.best.value * (1 + 1e-6);
    // What stands at the T line: [name, value].
    const standing = run.shown.flatMap((name) => {
      const end = view.ends[name]?.upper ?? null;
      if (name === "pld" && end === null && !view.found.asked) return [[name, view.best.value]];
      return end > 0 ? [[name, end]] : [];
    });
    if (view.pinned) standing.push(["pinned", least(view.pinned.ends).value]);
    const hidden = this.every.filter((name) => !standing.some(([one]) => one === name));
    for (const name of hidden) {
      set(this.dots[name], "visibility", "hidden");
      set(this.values[name], "text", "");
      set(this.leaders[name], "d", "");
    }
    for (const [name, value] of standing) {
      const y = frame.y(run, value);
      const off = y < top || value === Infinity;
      set(this.dots[name], "visibility", !off && y <= bottom ? null : "hidden");
      set(this.dots[name], "transform", `translate(${x.toFixed(1)} ${y.toFixed(1)})`);
      const sign = `${off ? "↑ " : ""}${STYLES[name].approximation ? "≈ " : ""}`;
      const item = { name, y, off, words: `${sign}${bound(value)}${name === "pinned" ? " ◌" : ""}` };
      const aside = value > ceiling && x - left > (small ? 60 : 76);
      // What is off the scale is ordered by its value all the same.
      if (aside) above.push({ ...item, want: off ? top + 10 - 1e-6 * Math.min(value, 1e6) : y - 12 });
      else below.push({ ...item, want: name === "pld" ? y + 20 : Math.min(Math.max(y, top + 10), bottom) });
    }
    const gap = small ? 17 : 19;
    raised(above, gap, top + 10, bottom - 6);
    apart(below, gap, top + 10, bottom - 8);
    const near = x + (small ? 76 : 84) > width;
    for (const item of above) this.write(item, x, -1);
    for (const item of below) this.write(item, x, near ? -1 : 1);
    const lowest = Math.max(top, ...below.map((item) => item.at));
    const hinted = !view.touched && !view.found.asked && !small && standing.length && lowest + 34 < bottom && x < width - 150;
    setAll(this.hint, { x: x + 16, y: Math.min(lowest + 30, bottom - 8), text: hinted ? this.words.pull : "" });
  }

  write({ name, at, y, off, words }, line, side) {
    const x = line + side * (name === "pld" ? 16 : 14);
    setAll(this.values[name], { x, y: at + 5, text: words, "text-anchor": side < 0 ? "end" : "start" });
    const far = !off && Math.abs(at - y) >= 22;
    const path = `M${(line + side * 5).toFixed(1)} ${y.toFixed(1)}L${(line + side * 11).toFixed(1)} ${at.toFixed(1)}`;
    set(this.leaders[name], "d", far ? path : "");
  }

  /** Names where curves end: at the right side, or at the top edge where they leave. */
  drawNames() {
    const { frame, run, view } = this;
    const { left, right, top, bottom } = frame.sides;
    const [sides, tops] = [[], []];
    for (const name of ACCOUNTANTS) {
      const end = run.shown.includes(name) ? this.end(name) : null;
      set(this.names[name], "visibility", end ? null : "hidden");
      set(this.links[name], "d", "");
      if (!end) continue;
      const [x, y] = end;
      const room = widthOf(STYLES[name].label[this.words.code], frame.box.named) + 10;
      if (y <= top) tops.push({ name, want: Math.min(Math.max(x, left + 20), right - 10), room });
      else sides.push({ name, want: Math.min(y, bottom), y });
    }
    for (const { name, at } of apart(tops, 0, left, frame.box.width)) {
      setAll(this.names[name], { x: at, y: top - 10, "text-anchor": "middle" });
    }
    for (const { name, at, y } of apart(sides, 18, top + 4, bottom - 2)) {
      setAll(this.names[name], { x: right + 16, y: at + 4.5, "text-anchor": "start" });
      set(this.links[name], "d", `M${right} ${y.toFixed(1)}L${right + 12} ${at.toFixed(1)}`);
    }
  }

  /** Where a curve leaves the plot, in pixels; null where nothing of it is drawn. */
  end(name) {
    const { frame, run, view: { found } } = this;
    const { right, top } = frame.sides;
    let last = null;
    for (const [i, upper] of (found.of[name]?.upper ?? []).entries()) {
      const epsilon = name === "pld" && upper === null ? found.of.rdp?.upper[i] : upper;
      if (!(epsilon > 0)) continue;
      const x = frame.x(run, found.steps[i]);
      const y = epsilon === Infinity ? -1e4 : frame.y(run, epsilon);
      const share = last ? (edge, a, b) => (edge - a) / (b - a) : () => 0;
      if (y < top && x <= right) return [last ? last[0] + share(top, last[1], y) * (x - last[0]) : x, top];
      if (x > right) return last && [right, last[1] + share(right, last[0], x) * (y - last[1])];
      last = [x, y];
    }
    return last;
  }
}

/** Places from the lowest up, so that no number sinks under its own curve. */
function raised(items, gap, low, high) {
  items.sort((a, b) => a.want - b.want);
  let most = Infinity;
  for (const item of [...items].reverse()) {
    item.at = Math.min(item.want, most);
    most = item.at - gap;
  }
  if (items.length && items[0].at < low) apart(items, gap, low, high);
}
