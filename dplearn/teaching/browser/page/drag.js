// Pointer and key input on elements with `data-drag`: numbers and handles of a picture.
import { dragged, nearest, pressed, read, refusal, typed } from "./numbers.js";

const WAYS = { ArrowUp: 1, ArrowRight: 1, PageUp: 1, ArrowDown: -1, ArrowLeft: -1, PageDown: -1 };
const EDGES = { Home: 0, End: 1 };

/** Input for a page with `fields`, `value(name)`, `change(name, value)`, and `grips` in its picture `svg`. A grip has
 * `move(x, y)` and may have `at()` (position; default: the pointer's), `sets` (name of its number, if different),
 * `draws` (a press also moves it) and `press(way, large)` for keys. Of all moves in a frame, only the last counts. */
export class Drag {
  constructor(root, page) {
    this.root = root;
    this.page = page;
    this.held = null;
    this.pending = null;
    const events = { pointerdown: "grab", pointermove: "move", pointerup: "release", pointercancel: "release", keydown: "key" };
    for (const [kind, act] of Object.entries(events)) root.addEventListener(kind, (event) => this[act](event));
    root.addEventListener("dblclick", (event) => {
      const number = event.target.closest?.("b[data-drag]");
      if (number) this.type(number);
    });
  }

  /** Apply the last move since the previous frame. */
  act() {
    this.pending?.();
    this.pending = null;
  }

  /** Return the element of an event, its name and its grip, or null inside an input field. */
  part({ target }) {
    const node = target.tagName === "INPUT" ? null : target.closest?.("[data-drag]");
    return node && { node, name: node.dataset.drag, grip: node.ownerSVGElement ? this.page.grips[node.dataset.drag] : null };
  }

  grab(event) {
    const part = this.part(event);
    if (!part || event.button > 0) return;
    const { node, name, grip } = part;
    const place = this.place(event);
    const [dx, dy] = place.map((own, i) => (grip?.at?.()[i] ?? own) - own);
    const start = { x: event.clientX, y: event.clientY, value: this.page.value(name) ?? 1 };
    this.held = { ...part, dx, dy, start, id: event.pointerId, moved: false };
    this.root.setPointerCapture(event.pointerId);
    this.root.classList.add("dp-holding");
    node.classList.add("dp-held");
    if (node.tabIndex >= 0) node.focus({ preventScroll: true });
    this.page.touched = true;
    if (grip?.draws) this.move(event);
    event.preventDefault();
  }

  place(event) {
    const box = this.page.svg.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  }

  move(event) {
    const { held, page } = this;
    if (event.pointerId !== held?.id) return;
    held.moved = true;
    const [x, y] = this.place(event);
    const { name, grip, start, dx, dy } = held;
    const pixels = event.clientX - start.x - 0.5 * (event.clientY - start.y);
    this.pending = () => (grip ? grip.move(x + dx, y + dy) : page.change(name, dragged(page.fields[name], start.value, pixels)));
    page.schedule();
  }

  release(event) {
    const { held, page } = this;
    if (event.pointerId !== held?.id) return;
    this.act();
    this.held = null;
    held.node.classList.remove("dp-held");
    this.root.classList.remove("dp-holding");
    page.schedule();
    if (held.moved) page.rest();
  }

  key(event) {
    const part = this.part(event);
    if (!part) return;
    const { page } = this;
    const { node, grip } = part;
    const name = grip?.sets ?? part.name;
    const field = page.fields[name];
    const way = WAYS[event.key];
    const large = event.shiftKey || event.key.startsWith("Page");
    if (event.key === "Enter" && node.tagName === "B") this.type(node);
    else if (way && grip?.press) grip.press(way, large);
    else if (way) page.change(name, pressed(field, page.value(name) ?? 1, way, large));
    else if (field && event.key in EDGES) page.change(name, field.ends[EDGES[event.key]]);
    else return;
    page.touched = true;
    event.preventDefault();
    page.rest();
  }

  /** Replace a number by an input field; invalid text stays in the field, with an error message. */
  type(node) {
    const { page } = this;
    const { ariaLabel, dataset: { drag: name } } = node;
    const box = Object.assign(document.createElement("input"), { ariaLabel, value: typed(name, page.value(name) ?? 1) });
    box.size = Math.max(box.value.length, 4);
    node.replaceChildren(box);
    box.select();
    const close = (keep) => {
      const entered = keep && box.value.trim() ? read(box.value) : null;
      node.querySelector("[role=alert]")?.remove();
      if (entered !== null && nearest(page.fields[name], entered) !== entered) {
        const reason = document.createElement("span");
        Object.assign(reason, { className: "dp-wrong", role: "alert", textContent: refusal(page.words.code, ariaLabel, name, page.fields[name]) });
        return node.append(reason);
      }
      // Removing the box triggers blur, which would close it again.
      box.onblur = null;
      box.remove();
      if (entered !== null) page.change(name, entered);
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
