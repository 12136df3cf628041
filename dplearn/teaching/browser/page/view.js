// Base class of all browser-drawn pages: nodes in one language, one redraw per frame for all changes, and
// an action after the input rests.
import { heard, shown } from "./numbers.js";
import { Place, languageOf } from "./place.js";
import { describe, set } from "./shapes.js";

const REST = 90;

/** Return the function that draws a page of a class into a node. */
export const mounting = (Page) => (root, options) => {
  const page = new Page(root, options);
  return { page, update: (data) => page.update(data), destroy: () => page.end() };
};

export class View {
  constructor(root) {
    this.root = root;
    this.queued = 0;
    /** @type {any} */
    this.words = null;
    // Only some pages have draggable numbers or an address.
    /** @type {any} */
    this.drag = null;
    /** @type {any} */
    this.place = null;
  }

  // Methods that pages override for a new address, a new language, drawing, the end of input, a button,
  // a choice, and the start of a drag.
  open(_) {}
  speakIn(_) {}
  draw(_) {}
  rested() {}
  act(_) {}
  choose(_) {}
  touch() {}

  /** Open the state of the address, now and after each change of it. */
  start(name, language) {
    this.place = new Place(name, (state) => {
      this.open(state);
      this.renew();
    });
    this.open(this.place.state);
    this.speakIn(languageOf(language));
  }

  /** Draw the new state, and schedule the action after a rest. */
  renew() {
    this.schedule();
    this.rest();
  }

  /** Build all nodes, and call `measure` whenever the part `watched` changes its size. */
  fill(html, watched) {
    this.root.innerHTML = html;
    this.body = this.root.firstElementChild;
    this.body.addEventListener("click", (event) => this.click(event.target.closest("[data-do], [data-chip], [data-choice]")));
    this.body.addEventListener("change", (event) => this.choose(event.target));
    this.watch?.disconnect();
    this.watch = new ResizeObserver(() => this.measure());
    this.watch.observe(this.find(watched));
  }

  find(selector) {
    return this.body.querySelector(selector);
  }

  write(selector, text) {
    set(this.find(selector), "text", text);
  }

  /** Write the numbers of the sentence, except a number with an open input field. */
  writeNumbers() {
    const { fields, value } = this.drag.about;
    for (const node of this.body.querySelectorAll("b[data-drag]:not(:has(input))")) {
      const { drag: name } = node.dataset;
      const now = value(name);
      set(node, "text", now === null ? "?" : shown(name, now));
      describe(node, fields[name].ends, now ?? fields[name].ends[0], now === null ? this.words.open : heard(this.words, name, now));
    }
  }

  /** Draw in the next frame, after applying the pending drag. */
  schedule() {
    this.queued ||= requestAnimationFrame((now) => {
      this.drag?.act();
      this.queued = 0;
      this.draw(now);
    });
  }

  rest() {
    clearTimeout(this.resting);
    this.resting = setTimeout(() => (this.drag?.held ? this.rest() : this.rested()), REST);
  }

  measure() {
    this.schedule();
  }

  click(button) {
    if (button?.dataset.do === "language") this.speakIn(this.words.code === "en" ? "zh" : "en");
    else if (button) this.act(button);
  }

  /** @param {any} data new data from the server */
  update({ language }) {
    if (language && language !== this.words.code) this.speakIn(language);
  }

  end() {
    clearTimeout(this.resting);
    cancelAnimationFrame(this.queued);
    this.watch.disconnect();
    this.place?.end();
    this.root.replaceChildren();
  }
}
