// Base class of all browser-drawn pages: state in the address, texts in one language, one redraw per frame.
import { Drag } from "./drag.js";
import { heard, shown } from "./numbers.js";
import { describe, set } from "./shapes.js";

// Last state of each page.
const left = new Map();

const query = () => new URLSearchParams(location.search);
const hash = () => new URLSearchParams(location.hash.slice(1) || location.search);

/** Return the state in the address: all fields except the language. */
const stateOfAddress = () => new URLSearchParams([...hash()].filter(([key]) => key !== "language")).toString();

/** Return a function that draws a page of the class `Page` into a node. */
export const mounting = (Page) => (root, options) => {
  const page = new Page(root, options);
  return { page, update: (data) => page.update(data), destroy: () => page.end() };
};

export class View {
  /** `messages` are the texts by language, `options` the arguments of the page. */
  constructor(root, messages = {}, options = {}) {
    this.root = root;
    this.messages = messages;
    /** @type {any} */
    this.options = options;
    this.queued = 0;
    this.touched = false;
    this.words = null;
    this.run = null;
    this.unread = [];
    this.fields = {};
    this.grips = {};
    this.stop = new AbortController();
  }

  // Methods that pages override: for a new address, a new language, drawing, the end of input, a button, a choice.
  open(_) {}
  build() {}
  draw() {}
  rested() {}
  act(_) {}
  choose(_) {}

  /** Open the state of the address, now and after Back, Forward or a typed hash. */
  start(name, language = this.options.language) {
    this.name = name;
    this.address = stateOfAddress() || left.get(name) || "";
    this.unwritten = true;
    this.listen(window, "popstate", () => {
      if (stateOfAddress() === this.address) return;
      this.address = stateOfAddress();
      this.unwritten = true;
      this.open(this.address);
      this.renew();
    });
    this.open(this.address);
    this.speakIn(hash().get("language") ?? query().get("language") ?? language);
  }

  speakIn(language) {
    this.words = this.messages[language] ?? this.messages.en;
    this.build();
    this.renew();
  }

  /** Listen to an event until the page ends. */
  listen = (target, kind, act) => target.addEventListener(kind, act, { signal: this.stop.signal });

  /** Write a state to the address; all writes after the first one add entries to the history. */
  writeAddress(state) {
    // Streamlit drops the hash when it writes the language; the same state is then written again.
    const gesture = !this.unwritten && state !== this.address;
    this.address = state;
    left.set(this.name, state);
    this.unwritten = false;
    // A page inside a notebook has no address to write to.
    if (location.protocol === "about:") return;
    const language = query().get("language");
    const address = `${location.pathname}${language ? `?language=${language}` : ""}${state && `#${state}`}`;
    const same = address === location.pathname + location.search + location.hash;
    if (!same) history[gesture ? "pushState" : "replaceState"](history.state, "", address);
  }

  renew() {
    this.schedule();
    this.rest();
  }

  /** Build all nodes, and call `measure` whenever the element `watched` changes its size. */
  fill(html, watched) {
    this.root.innerHTML = html;
    this.body = this.root.firstElementChild;
    this.body.addEventListener("click", (event) => this.click(event.target.closest("[data-do], [data-chip], [data-choice]")));
    this.body.addEventListener("change", (event) => this.choose(event.target));
    this.watch?.disconnect();
    this.watch = new ResizeObserver(() => this.measure());
    this.watch.observe(this.find(watched));
    this.drag = new Drag(this.body, this);
  }

  value(name) {
    return this.run[name];
  }

  find = (selector) => this.body.querySelector(selector);
  all = (selector) => [...this.body.querySelectorAll(selector)];
  write = (selector, text) => set(this.find(selector), "text", text);

  /** Write the numbers of the sentence and describe all handles, except a number with an open input field. */
  writeNumbers() {
    for (const node of this.all("[role=slider]:not(:has(input))")) {
      const { drag } = node.dataset;
      const name = this.grips[drag]?.sets ?? drag;
      const [now, ends] = [this.value(name), this.fields[name]?.ends];
      if (node.tagName === "B") set(node, "text", now === null ? "?" : shown(name, now));
      if (now === null) describe(node, ends, ends[0], this.words.open);
      else if (ends) describe(node, ends, now, heard(this.words, name, now));
    }
  }

  /** Draw in the next frame, after applying the pending drag. */
  schedule() {
    this.queued ||= requestAnimationFrame(() => {
      this.drag.act();
      this.queued = 0;
      this.draw();
    });
  }

  rest() {
    clearTimeout(this.resting);
    this.resting = setTimeout(() => (this.drag.held ? this.rest() : this.rested()), 90);
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
    this.stop.abort();
    this.root.replaceChildren();
  }
}
