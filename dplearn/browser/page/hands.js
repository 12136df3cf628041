// Hands and keys on whatever has a `data-drag`: numbers of the sentence, the lines, the PLD curve.
import { digits, read } from "./numbers.js";
import { FIELDS, allowed, dragged, pressed, valueOf } from "./run.js";
import { forget } from "./shapes.js";

const WAYS = { ArrowUp: 1, ArrowRight: 1, PageUp: 1, ArrowDown: -1, ArrowLeft: -1, PageDown: -1 };
// What a key does to epsilon where the curve is held; a large step is five of them.
const STEP = 0.02;

/** `page` has `run`, `svg`, `frame`, `epsilon()`, `change(name, value)`, `pull(T, epsilon)`,
 * `schedule()` and `rest()`. What a hand does is done in the next frame, once. */
export class Hands {
  constructor(root, page) {
    this.root = root;
    this.page = page;
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

  /** Do what the hand has asked since the last frame. */
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
    const { run, frame } = page;
    const offsets = {
      T: () => [frame.x(run, run.T) - x, 0],
      budget: () => [0, frame.y(run, run.budget) - y],
      curve: () => [0, frame.y(run, page.epsilon()) - y],
      pull: () => [0, 0],
    };
    const [dx, dy] = drawn ? offsets[name]() : [0, 0];
    // Handles that read an axis hold it still.
    const still = drawn && name !== "T";
    const start = { x: event.clientX, y: event.clientY, value: valueOf(run, name) };
    this.held = { name, node, drawn, still, dx, dy, start, id: event.pointerId, moved: false };
    this.root.setPointerCapture(event.pointerId);
    this.root.classList.add("dp-holding");
    node.classList.add("dp-held");
    if (node.tabIndex >= 0) node.focus({ preventScroll: true });
    page.touch();
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
      const { frame, run } = page;
      const [across, up] = [x + held.dx, y + held.dy];
      if (!held.drawn) {
        const pixels = event.clientX - start.x - 0.5 * (event.clientY - start.y);
        page.change(name, dragged(name, start.value, pixels));
      } else if (name === "T") page.change("T", digits(frame.stepsAt(run, across), 3));
      else if (name === "budget") page.change("budget", digits(frame.epsilonAt(run, up), 3));
      else {
        const T = name === "curve" ? run.T : Math.round(frame.stepsAt(run, x));
        page.pull(T, frame.epsilonAt(run, up));
      }
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
    const { drag: name } = node.dataset;
    const way = WAYS[event.key];
    const large = event.shiftKey || event.key.startsWith("Page");
    if (event.key === "Enter" && node.tagName === "B") this.type(node);
    else if (way && name === "curve") this.lift(way * (large ? 5 : 1));
    else if (way) page.change(name, pressed(name, valueOf(page.run, name), way, large));
    else if (name !== "curve" && event.key === "Home") page.change(name, FIELDS[name].ends[0]);
    else if (name !== "curve" && event.key === "End") page.change(name, FIELDS[name].ends[1]);
    else return;
    page.touch();
    event.preventDefault();
    page.rest();
  }

  /** Move the curve by so many steps; sigma moves in any case. */
  lift(steps) {
    const { page } = this;
    const before = page.run.sigma;
    page.pull(page.run.T, page.epsilon() * (1 + STEP * steps));
    if (page.run.sigma === before) page.change("sigma", pressed("sigma", before, -Math.sign(steps), false));
  }

  /** A box in place of a number; what is no number leaves it as it was. */
  type(node) {
    const { page } = this;
    const { drag: name } = node.dataset;
    const box = document.createElement("input");
    const value = valueOf(page.run, name);
    box.value = name === "q" || name === "rate" ? `${digits(100 * value, 12)} %` : String(value);
    box.setAttribute("aria-label", node.getAttribute("aria-label"));
    box.size = Math.max(box.value.length, 4);
    node.replaceChildren(box);
    forget(node);
    box.select();
    // To remove the box takes its focus, which closes it again.
    let closed = false;
    const close = (keep) => {
      if (closed) return;
      closed = true;
      const typed = read(box.value);
      box.remove();
      if (keep && allowed(name, typed) === typed) page.change(name, typed);
      page.rest();
      page.schedule();
    };
    box.addEventListener("keydown", (event) => {
      event.stopPropagation();
      if (event.key !== "Enter" && event.key !== "Escape") return;
      close(event.key === "Enter");
      node.focus();
    });
    box.addEventListener("blur", () => close(true));
  }
}
