// Keys, swipes and buttons: how a reader goes from scene to scene.

const WAYS = { ArrowRight: 1, PageDown: 1, " ": 1, ArrowLeft: -1, PageUp: -1 };
const LEVELS = { ArrowUp: 1, ArrowDown: -1 };
// Of a swipe, in pixels; it goes at least twice as far across as up or down.
const SWIPE = 50;

export class Navigation {
  constructor(minute) {
    this.minute = minute;
    this.touched = null;
    this.stop = new AbortController();
    const listen = (node, kind, act) => node.addEventListener(kind, act, { signal: this.stop.signal });
    listen(window, "keydown", (event) => this.key(event));
    listen(minute.root, "pointerdown", (event) => this.touch(event));
    listen(minute.root, "pointerup", (event) => this.lift(event));
    listen(minute.root, "pointercancel", () => (this.touched = null));
  }

  /** Keys are the minute's while it fills most of the window and nobody types elsewhere. */
  key(event) {
    const { minute } = this;
    const [target] = event.composedPath();
    const { top, bottom } = minute.body.getBoundingClientRect();
    const away = bottom < innerHeight / 2 || top > innerHeight / 2;
    if (away || event.ctrlKey || event.metaKey || event.altKey || target.matches?.("input, textarea, select, [contenteditable]")) return;
    if (event.key === " " && target.closest?.("button, a")) return;
    const way = WAYS[event.key];
    const level = LEVELS[event.key];
    if (level && target === minute.svg && minute.guessing) minute.lift(level);
    else if (way) minute.go(minute.scene + (event.shiftKey ? -way : way));
    else return;
    event.preventDefault();
  }

  touch(event) {
    const draws = this.minute.guessing && event.target.closest(".dm-svg");
    this.touched = event.pointerType === "mouse" || draws ? null : { x: event.clientX, y: event.clientY };
  }

  lift(event) {
    if (!this.touched) return;
    const [across, along] = [event.clientX - this.touched.x, event.clientY - this.touched.y];
    this.touched = null;
    if (Math.abs(across) >= SWIPE && Math.abs(across) >= 2 * Math.abs(along)) this.minute.go(this.minute.scene - Math.sign(across));
  }
}
