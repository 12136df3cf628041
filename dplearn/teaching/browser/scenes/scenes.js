// One-minute page of four scenes: a guess, the true value, a paper's larger value, shuffled batches; `mount` draws it.
import { button } from "../page/html.js";
import { clamp } from "../page/numbers.js";
import { near, register, written } from "../page/run.js";
import { set } from "../page/shapes.js";
import { View, mounting } from "../page/view.js";
import { Truth, addressOf, end, guessOf, readAddress, straight } from "./guess.js";
import { speaker } from "./messages.js";
import { SCENES, chart, planeOf } from "./views.js";

const LAST = SCENES.length - 1;
// Keys that change the scene, and keys that change the guess.
const WAYS = { ArrowRight: 1, PageDown: 1, " ": 1, ArrowLeft: -1, PageUp: -1 };
const LEVELS = { ArrowUp: 1, ArrowDown: -1 };

/** One-minute page: `shuffled` are the library's bounds for shuffled batches, `explore` is the explorer's address. */
class Minute extends View {
  constructor(root, options) {
    super(root, { en: { code: "en" }, zh: { code: "zh" } }, options);
    const { engine } = options;
    register(engine.ACCOUNTANTS.map((name) => ({ name })), engine, false);
    // Current stroke in pixels, and whether the last stroke was too short.
    this.stroke = [];
    this.short = false;
    this.listen(window, "keydown", (event) => this.key(event));
    this.start("minute");
  }

  open(state) {
    const { run, guess, scene, unread } = readAddress(state);
    Object.assign(this, { run, guess, scene: clamp(scene, 0, LAST), unread });
    const { engine, published } = this.options;
    this.truth = new Truth(engine, run);
    this.printed = published.find((row) => row.accountant === "moments" && row.T === run.T && near(row, run));
  }

  build() {
    this.say = speaker(this.words.code);
    this.fill(markup(this.say), ".dm-stage");
    this.svg = this.find(".dm-svg");
    this.svg.addEventListener("pointerdown", (event) => this.draws(event));
  }

  renew() {
    for (const [part, words] of Object.entries(SCENES[this.scene].words(this))) this.write(`.dm-${part}`, words);
    this.body.dataset.scene = String(this.scene + 1);
    this.all(".dm-dots button").forEach((dot, i) => dot.setAttribute("aria-current", i === this.scene ? "step" : "false"));
    this.find("[data-do=back]").disabled = !this.scene;
    this.find("[data-do=next]").disabled = this.scene === LAST;
    this.find("[data-do=explore]").href = `${this.options.explore}?${written(this.run)}`;
    // In scene 1, the picture is a slider for the keyboard.
    const { svg, run, say, guess, scene } = this;
    const drawn = guess ? end(guess, run.T).epsilon : 0;
    const slider = { role: "slider", tabindex: "0", "aria-label": say("level", { T: run.T }), "aria-valuemin": "0", "aria-valuenow": String(drawn), "aria-valuetext": guess ? String(drawn) : "?" };
    const image = { role: "img", "aria-label": this.find(".dm-text").textContent };
    for (const name of Object.keys(slider)) set(svg, name, (scene ? image : slider)[name] ?? null);
    this.schedule();
  }

  go(scene) {
    const next = clamp(scene, 0, LAST);
    if (next === this.scene) return;
    this.scene = next;
    this.take(this.guess);
  }

  draw() {
    const { clientWidth: width, clientHeight: height } = this.find(".dm-stage");
    if (!width || !height) return;
    const view = { last: this.run.T, ...SCENES[this.scene].view(this) };
    const em = parseFloat(getComputedStyle(this.svg).fontSize);
    this.plane = planeOf({ width, height, em }, view);
    this.svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
    this.svg.replaceChildren(...chart(this.plane, view, this.drawn(), this.say));
    this.body.dataset.drawn = String(this.scene + 1);
  }

  /** Return the current stroke as points [T, epsilon]. */
  drawn = () => this.stroke.map(([x, y]) => [this.plane.x.value(x), this.plane.y.value(y)]);

  /** Record a stroke from left to right; when the pointer is released, it becomes the guess. */
  draws(event) {
    if (this.scene) return;
    const { svg } = this;
    const box = svg.getBoundingClientRect();
    const more = ({ clientX, clientY }) => {
      const x = clientX - box.left;
      if (!(x <= this.stroke.at(-1)?.[0])) this.stroke.push([x, clientY - box.top]);
      this.schedule();
    };
    this.stroke = [];
    more(event);
    svg.setPointerCapture(event.pointerId);
    svg.addEventListener("pointermove", more);
    svg.addEventListener("lostpointercapture", () => {
      svg.removeEventListener("pointermove", more);
      const guess = guessOf(this.drawn(), this.run.T);
      this.short = !guess;
      this.stroke = [];
      this.take(guess ?? this.guess);
    }, { once: true });
    event.preventDefault();
  }

  /** Handle keys while the page fills most of the window and no other field has the focus. */
  key(event) {
    const [target] = event.composedPath();
    const { top, bottom } = this.body.getBoundingClientRect();
    const away = bottom < innerHeight / 2 || top > innerHeight / 2;
    if (away || event.ctrlKey || event.metaKey || event.altKey || target.matches?.("input, textarea, select, [contenteditable]")) return;
    if (event.key === " " && target.closest?.("button, a")) return;
    const [way, level] = [WAYS[event.key], LEVELS[event.key]];
    if (level && target === this.svg && !this.scene) this.lift(level);
    else if (way) this.go(this.scene + (event.shiftKey ? -way : way));
    else return;
    event.preventDefault();
  }

  /** Raise or lower the guess by the keyboard, as a straight line. */
  lift(way) {
    const { top } = SCENES[0].view(this);
    const now = this.guess ? end(this.guess, this.run.T).epsilon : top / 2;
    this.take(straight(clamp(now + (way * top) / 50, 0, top)));
  }

  take(guess) {
    this.guess = guess;
    this.renew();
    this.writeAddress(addressOf(this));
  }

  act({ dataset }) {
    if (dataset.do === "goto") this.go(Number(dataset.scene));
    else if (dataset.do !== "explore") this.go(this.scene + (dataset.do === "next" ? 1 : -1));
  }
}

export const mount = mounting(Minute);

function markup(say) {
  const icon = (name, sign) => button(name, sign, `class="dm-icon" aria-label="${say(name)}" title="${say(name)}"`);
  const dot = (_, i) => button("goto", "", `data-scene="${i}" aria-label="${say("goto", { scene: i + 1 })}"`);
  return `<section class="dm" lang="${say("code")}" aria-label="${say("minute")}"><div class="dm-in">
<div class="dm-say" aria-live="polite"><h2 class="dm-head"></h2><p class="dm-text"></p><p class="dm-small"></p></div>
<div class="dm-stage"><svg class="dm-svg"></svg></div>
<p class="dm-acts"><a data-do="explore">${say("explore")}</a></p>
<div class="dm-bar">${button("language", say("other"))}
<span class="dm-moves">${icon("back", "‹")}<span class="dm-dots">${SCENES.map(dot).join("")}</span>${icon("next", "›")}</span>
<span></span></div></div></section>`;
}
