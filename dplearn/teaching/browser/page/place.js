// The address of a page: its state stands behind the hash, and each gesture is an entry of the history.

/** Whether there is an address: a page inside of a notebook has none. */
export const ADDRESSED = location.protocol !== "about:";

const parts = () => new URLSearchParams(location.hash.slice(1) || location.search);

/** The language that the address names, or else the one that is given. */
export const languageOf = (given) => parts().get("language") ?? new URLSearchParams(location.search).get("language") ?? given;

/** What the address says, without the language. */
function asked() {
  const all = parts();
  all.delete("language");
  return all.toString();
}

// What each page showed last.
const left = new Map();

export class Place {
  /** `open(state)` shows the state of an address: Back, Forward, Ctrl-Z or a hash that was typed. */
  constructor(name, open) {
    this.name = name;
    this.state = asked() || left.get(name) || "";
    this.fresh = true;
    this.stop = new AbortController();
    const listen = (kind, act) => addEventListener(kind, act, { signal: this.stop.signal });
    listen("popstate", () => {
      if (asked() === this.state) return;
      this.state = asked();
      this.fresh = true;
      open(this.state);
    });
    listen("keydown", (event) => {
      const key = (event.ctrlKey || event.metaKey) && !event.altKey ? event.key.toLowerCase() : "";
      const way = key === "y" || (key === "z" && event.shiftKey) ? 1 : key === "z" ? -1 : 0;
      if (!way || event.target.closest?.("input, textarea") || (way < 0 && !history.state?.gestures)) return;
      event.preventDefault();
      history.go(way);
    });
  }

  /** Let the address say a state; the first one after an address was opened is no gesture. */
  write(state) {
    // Streamlit drops what stands behind the hash when it writes the language.
    const gesture = !this.fresh && state !== this.state;
    this.state = state;
    left.set(this.name, state);
    this.fresh = false;
    if (!ADDRESSED) return;
    const language = new URLSearchParams(location.search).get("language");
    const address = `${location.pathname}${language ? `?language=${language}` : ""}${state && `#${state}`}`;
    const same = address === location.pathname + location.search + location.hash;
    const gestures = (history.state?.gestures ?? 0) + (gesture ? 1 : 0);
    if (!same) history[gesture ? "pushState" : "replaceState"]({ ...history.state, gestures }, "", address);
  }

  end() {
    this.stop.abort();
  }
}
