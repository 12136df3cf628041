// State of a page in the hash of its address; each change by the reader is an entry of the history.

/** Whether the page has an address; a page inside a notebook has none. */
const ADDRESSED = location.protocol !== "about:";

const parts = () => new URLSearchParams(location.hash.slice(1) || location.search);

/** Return the language of the address, or else `given`. */
export const languageOf = (given) => parts().get("language") ?? new URLSearchParams(location.search).get("language") ?? given;

/** Return the fields of the address without the language. */
function asked() {
  const all = parts();
  all.delete("language");
  return all.toString();
}

// Last state of each page.
const left = new Map();

export class Place {
  /** `open(state)` shows the state of a new address after Back, Forward or a typed hash. */
  constructor(name, open) {
    this.name = name;
    this.state = asked() || left.get(name) || "";
    this.fresh = true;
    this.stop = new AbortController();
    const moved = () => {
      if (asked() === this.state) return;
      this.state = asked();
      this.fresh = true;
      open(this.state);
    };
    addEventListener("popstate", moved, { signal: this.stop.signal });
  }

  /** Write a state to the address; the first write after opening an address adds no history entry. */
  write(state) {
    // Streamlit drops the hash when it writes the language; the same state is then written again.
    const gesture = !this.fresh && state !== this.state;
    this.state = state;
    left.set(this.name, state);
    this.fresh = false;
    if (!ADDRESSED) return;
    const language = new URLSearchParams(location.search).get("language");
    const address = `${location.pathname}${language ? `?language=${language}` : ""}${state && `#${state}`}`;
    const same = address === location.pathname + location.search + location.hash;
    if (!same) history[gesture ? "pushState" : "replaceState"](history.state, "", address);
  }

  end() {
    this.stop.abort();
  }
}
