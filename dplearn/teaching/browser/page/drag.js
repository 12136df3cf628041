// Pointer and key input on elements with `data-drag`: numbers, lines, the PLD curve.
import { digits, dragged, nearest, pressed, read, refusal, typed } from "./numbers.js";
import { FIELDS, valueOf } from "./run.js";
import { forget } from "./shapes.js";

const WAYS = { ArrowUp: 1, ArrowRight: 1, PageUp: 1, ArrowDown: -1, ArrowLeft: -1, PageDown: -1 };
// Relative change of epsilon per key press on the curve; a large step is five of these.
const STEP = 0.02;

/** Return the draggable parts of the page of epsilon against T: numbers, and `grips` in the picture. */
const ofRun = (page) => ({
  fields: FIELDS,
  value: (name) => valueOf(page.run, name),
  grips: {
    T: {
      at: () => [page.frame.x(page.run.T), null],
      move: (x) => page.change("T", digits(page.frame.stepsAt(x), 3)),
    },
    budget: {
      still: true,
      at: () => [null, page.frame.y(page.run, page.run.budget)],
      move: (x, y) => page.change("budget", digits(page.frame.epsilonAt(page.run, y), 3)),
    },
    curve: {
      still: true,
      at: () => [null, page.frame.y(page.run, page.epsilon())],
      move: (x, y) => page.pull(page.run.T, page.frame.epsilonAt(page.run, y)),
      press: (way, large) => lift(page, way * (large ? 5 : 1)),
    },
    pull: {
      still: true,
      at: () => [null, null],
      move: (x, y) => page.pull(Math.round(page.frame.stepsAt(x)), page.frame.epsilonAt(page.run, y)),
    },
  },
});

/** Move the curve by some steps; change the noise at least by one key step. */
function lift(page, steps) {
  const before = page.run.noise_multiplier;
  page.pull(page.run.T, page.epsilon() * (1 + STEP * steps));
  if (page.run.noise_multiplier === before) page.change("noise_multiplier", pressed(FIELDS.noise_multiplier, before, -Math.sign(steps), false));
}

/** `page` has `svg`, `change(name, value)`, `touch()`, `schedule()` and `rest()`. `about` has `fields`, a
 * function `value(name)`, and `grips` of the picture: position `at()` (null: at the pointer), `move(x, y)`,
 * the number it `sets` if named differently, whether a press `draws`, and whether axes stay `still`.
 * Of all moves within a frame, only the last takes effect. */
export class Drag {
  /** @param {any} [about] */
  constructor(root, page, about = ofRun(page)) {
    this.root = root;
    this.page = page;
    this.about = about;
    this.held = null;
    this.pending = null;
    const listen = (kind, act) => root.addEventListener(kind, act);
    listen("pointerdown", (event) => this.grab(event));
    listen("pointermove", (event) => this.move(event));
    listen("pointerup", (event) => this.release(event));
    listen("pointercancel", (event) => this.release(event));
    listen("keydown", (event) => this.key(event));
    listen("dblclick", (event) => {
      const number = event.target.closest?.("b[data-drag]");
      if (number) this.type(number);
    });
  }

  /** Apply the last move since the previous frame. */
  act() {
    const { pending } = this;
    this.pending = null;
    pending?.();
  }

  grab(event) {
    const node = event.target.closest?.("[data-drag]");
    if (!node || event.button > 0 || event.target.tagName === "INPUT") return;
    const { page } = this;
    const { drag: name } = node.dataset;
    const drawn = Boolean(node.ownerSVGElement);
    const [x, y] = this.place(event);
    const grip = drawn ? this.about.grips[name] : null;
    const [dx, dy] = [x, y].map((place, i) => (grip?.at()[i] ?? place) - place);
    // Handles that convert pixels by an axis keep it fixed.
    const still = Boolean(grip?.still);
    const start = { x: event.clientX, y: event.clientY, value: this.about.value(name) ?? 1 };
    this.held = { name, node, grip, still, dx, dy, start, id: event.pointerId, moved: false };
    this.root.setPointerCapture(event.pointerId);
    this.root.classList.add("dp-holding");
    node.classList.add("dp-held");
    if (node.tabIndex >= 0) node.focus({ preventScroll: true });
    page.touch();
    if (grip?.draws) this.move(event);
    event.preventDefault();
  }

  place(event) {
    const box = this.page.svg.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  }

  move(event) {
    const { held, page } = this;
    if (!held || event.pointerId !== held.id) return;
    held.moved = true;
    const [x, y] = this.place(event);
    const { name, start } = held;
    this.pending = () => {
      if (held.grip) return held.grip.move(x + held.dx, y + held.dy);
      const pixels = event.clientX - start.x - 0.5 * (event.clientY - start.y);
      return page.change(name, dragged(this.about.fields[name], start.value, pixels));
    };
    page.schedule();
  }

  release(event) {
    const { held, page } = this;
    if (!held || event.pointerId !== held.id) return;
    this.act();
    this.held = null;
    held.node.classList.remove("dp-held");
    this.root.classList.remove("dp-holding");
    page.schedule();
    if (held.moved) page.rest();
  }

  key(event) {
    const node = event.target.closest?.("[data-drag]");
    if (!node || event.target.tagName === "INPUT") return;
    const { page } = this;
    const { fields, grips, value } = this.about;
    const grip = node.ownerSVGElement ? grips[node.dataset.drag] : null;
    const name = grip?.sets ?? node.dataset.drag;
    const way = WAYS[event.key];
    const large = event.shiftKey || event.key.startsWith("Page");
    if (event.key === "Enter" && node.tagName === "B") this.type(node);
    else if (way && grip?.press) grip.press(way, large);
    else if (way) page.change(name, pressed(fields[name], value(name) ?? 1, way, large));
    else if (fields[name] && event.key === "Home") page.change(name, fields[name].ends[0]);
    else if (fields[name] && event.key === "End") page.change(name, fields[name].ends[1]);
    else return;
    page.touch();
    event.preventDefault();
    page.rest();
  }

  /** Replace a number by an input field, where invalid text stays with an error message. */
  type(node) {
    const { page } = this;
    const { drag: name } = node.dataset;
    const box = document.createElement("input");
    const { fields, value } = this.about;
    const label = node.getAttribute("aria-label");
    box.value = typed(name, value(name) ?? 1);
    box.setAttribute("aria-label", label);
    box.size = Math.max(box.value.length, 4);
    node.replaceChildren(box);
    forget(node);
    box.select();
    const close = (keep) => {
      const entered = read(box.value);
      const wrong = keep && box.value.trim() && nearest(fields[name], entered) !== entered;
      node.querySelector("[role=alert]")?.remove();
      if (wrong) {
        const reason = document.createElement("span");
        Object.assign(reason, { className: "dp-wrong", role: "alert", textContent: refusal(page.words?.code, label, name, fields[name]) });
        return node.append(reason);
      }
      // Removing the box triggers blur, which would close it again.
      box.onblur = null;
      box.remove();
      if (keep && box.value.trim()) page.change(name, entered);
      page.rest();
      page.schedule();
    };
    box.addEventListener("keydown", (event) => {
      event.stopPropagation();
      if (event.key !== "Enter" && event.key !== "Escape") return;
      close(event.key === "Enter");
      if (!box.isConnected) node.focus();
    });
    box.onblur = () => close(true);
  }
}
