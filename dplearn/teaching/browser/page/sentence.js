// Draggable numbers in a sentence for server-drawn pages; keys and typing work, too.
import { number } from "./html.js";
import { nearest, text } from "./numbers.js";
import { View, mounting } from "./view.js";

/** Sentence of numbers with name, label, value and ends; after the input, `send(values)` gets the changed values. */
class Sentence extends View {
  constructor(root, options) {
    super(root, {}, options);
    this.words = { share: text, how: "" };
    this.changes = {};
    this.update(options);
  }

  update({ numbers }) {
    if (this.drag?.held || this.root.querySelector("input")) return;
    this.run = Object.fromEntries(numbers.map(({ name, value }) => [name, value ?? Infinity]));
    const names = numbers.map(({ name }) => name).join();
    if (this.names !== names) {
      const parts = numbers.map(({ name, label }) => `<span>${label} = ${number(this.words, name, label)}</span>`);
      this.fill(`<div class="dp dp-row">${parts.join(" ")}</div>`, "span");
      this.svg = this.body;
      this.names = names;
    }
    this.fields = Object.fromEntries(numbers.map((one) => [one.name, { pixels: 150, digits: 4, ...one }]));
    this.draw();
  }

  change(name, value) {
    this.run[name] = this.changes[name] = nearest(this.fields[name], value);
    this.schedule();
  }

  draw() {
    this.writeNumbers();
  }

  rested() {
    if (Object.keys(this.changes).length) this.options.send(this.changes);
    this.changes = {};
  }
}

export const mount = mounting(Sentence);
