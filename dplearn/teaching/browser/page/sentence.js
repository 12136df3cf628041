// Numbers in a sentence, for a page that the server draws: each is dragged, typed or stepped by keys.
import { Drag } from "./drag.js";
import { heard, nearest, shown, text } from "./numbers.js";
import { describe, set } from "./shapes.js";

/** Draw the numbers into `root`: name, label, value and ends of each; `send(values)` hears of those
 * that a hand has changed when it rests. */
export function mount(root, { numbers, send }) {
  const page = new Sentence(root, send);
  page.update({ numbers });
  return page;
}

class Sentence {
  constructor(root, send) {
    this.root = Object.assign(root, { className: "dp dp-row" });
    this.send = send;
    this.svg = root;
    this.changes = {};
    this.drag = new Drag(root, this, { fields: {}, value: (name) => this.values[name], grips: {} });
  }

  update({ numbers }) {
    if (this.drag.held || this.root.querySelector("input")) return;
    this.values = Object.fromEntries(numbers.map(({ name, value }) => [name, value ?? Infinity]));
    this.drag.about.fields = Object.fromEntries(numbers.map((one) => [one.name, { pixels: 150, digits: 4, ...one }]));
    const number = ({ name, label }) => `<span>${label} = <b data-drag="${name}" role="slider" tabindex="0" aria-label="${label}"></b></span>`;
    const names = numbers.map(({ name }) => name).join();
    if (this.names !== names) this.root.innerHTML = numbers.map(number).join(" ");
    this.names = names;
    this.draw();
  }

  change(name, value) {
    this.values[name] = this.changes[name] = nearest(this.drag.about.fields[name], value);
    this.schedule();
  }

  touch() {}

  schedule() {
    this.queued ||= requestAnimationFrame(() => {
      this.queued = 0;
      this.drag.act();
      this.draw();
    });
  }

  draw() {
    for (const node of this.root.querySelectorAll("b[data-drag]")) {
      const { drag: name } = node.dataset;
      if (!node.querySelector("input")) set(node, "text", shown(name, this.values[name]));
      describe(node, this.drag.about.fields[name].ends, this.values[name], heard({ share: text }, name, this.values[name]));
    }
  }

  rest() {
    clearTimeout(this.resting);
    this.resting = setTimeout(() => {
      if (Object.keys(this.changes).length) this.send(this.changes);
      this.changes = {};
    }, 90);
  }

  destroy() {
    clearTimeout(this.resting);
  }
}
