// What a reader has done, kept in this browser and sent nowhere; contents that follow the scroll.
"use strict";

window.dplearnProgress = (() => {
  const PREFIX = "dplearn-";
  // Firefox gives each file a storage of its own, and all files the same cookies, which go nowhere.
  const cookies = {
    read: () => document.cookie.split("; ").map((pair) => pair.split("=")),
    write: (key, value) => { document.cookie = `${key}=${encodeURIComponent(value)}; max-age=34560000; path=/`; },
    remove: (key) => { document.cookie = `${key}=; max-age=0; path=/`; },
  };
  const storage = {
    read: () => Object.entries(localStorage),
    write: (key, value) => localStorage.setItem(key, value),
    remove: (key) => localStorage.removeItem(key),
  };
  const memory = new Map();
  const forgetful = { read: () => [...memory], write: (k, v) => memory.set(k, v), remove: (k) => memory.delete(k) };
  const works = (store) => {
    try {
      store.write(`${PREFIX}try`, "1");
      const kept = store.read().some(([key, value]) => key === `${PREFIX}try` && value === "1");
      store.remove(`${PREFIX}try`);
      return kept;
    } catch {
      return false;
    }
  };
  const choices = location.protocol === "file:" ? [cookies, storage] : [storage];
  const store = choices.find(works) ?? forgetful;

  const two = (lesson) => String(parseInt(lesson, 10)).padStart(2, "0");
  const states = (items) => Object.fromEntries(
    Object.entries(items ?? {}).filter(([, state]) => ["done", "tried"].includes(state)));
  // What is kept of each lesson; of one that somebody has spoilt, nothing.
  const kept = () => store.read().filter(([key]) => /^dplearn-\d\d$/.test(key)).map(([key, value]) => {
    try {
      return [key.slice(-2), states(JSON.parse(store === cookies ? decodeURIComponent(value) : value))];
    } catch {
      return [key.slice(-2)];
    }
  });
  const all = () => Object.fromEntries(kept().filter(([, items]) => items));
  const tell = () => document.dispatchEvent(new Event("dplearn:kept"));
  const get = (lesson, item) => all()[two(lesson)]?.[item] ?? null;
  const set = (lesson, item, state) => {
    if (get(lesson, item) === "done") return; // a later try does not undo it
    store.write(PREFIX + two(lesson), JSON.stringify({ ...all()[two(lesson)], [item]: state }));
    tell();
  };
  return {
    get,
    set,
    done: (lesson) => Object.values(all()[two(lesson)] ?? {}).filter((state) => state === "done").length,
    forgets: store === forgetful,
    spoilt() {
      const lessons = kept().filter(([, items]) => !items).map(([lesson]) => lesson);
      return lessons.length ? `What this browser has kept of lesson ${lessons.join(", ")} cannot be read, and counts as nothing. ` : "";
    },
    export: () => JSON.stringify({ dplearn: "progress", lessons: all() }, null, 1),
    import(text) {
      let read;
      try { read = JSON.parse(text); } catch { /* told below */ }
      if (read?.dplearn !== "progress") throw new Error("This file holds no progress: save one here first.");
      for (const [lesson, items] of Object.entries(read.lessons ?? {})) {
        for (const [item, state] of Object.entries(states(items))) set(lesson, item, state);
      }
    },
    clear() {
      kept().forEach(([lesson]) => store.remove(PREFIX + lesson));
      tell();
    },
  };
})();

document.addEventListener("dplearn:progress", ({ detail: { lesson, item, state } }) =>
  dplearnProgress.set(lesson, item, state));

{
  const make = (tag, values, ...children) => {
    const node = Object.assign(document.createElement(tag), values);
    node.append(...children);
    return node;
  };
  const FORGETS = "This browser keeps nothing for files: progress lasts as long as this page, unless you save it.";
  // Now, and whenever progress changes: here, on another page, or before the way back.
  const always = (draw) => {
    draw();
    document.addEventListener("dplearn:kept", draw);
    ["storage", "pageshow"].forEach((event) => addEventListener(event, draw));
  };
  const share = (lesson, asked) => (Number(asked) ? `${Math.min(dplearnProgress.done(lesson), asked)} of ${asked}` : "");

  const contents = document.querySelector(".contents");
  if (contents) {
    const [list, summary] = ["details", "summary"].map((tag) => contents.querySelector(tag));
    const { lesson, asked } = contents.dataset;
    const wide = matchMedia("(min-width: 75rem)");
    const unfold = () => { list.open = wide.matches; };
    unfold();
    wide.addEventListener("change", unfold);
    list.addEventListener("click", ({ target }) => target.closest("a") && unfold());
    const [here, count] = [make("span", {}), make("p", {})];
    summary.append(here);
    list.append(count);
    always(() => {
      const answered = Number(asked) ? `${dplearnProgress.spoilt()}${share(lesson, asked)} answered` : "";
      count.textContent = dplearnProgress.forgets ? FORGETS : answered;
    });
    const links = [...contents.querySelectorAll("li a")];
    const headings = links.map((link) => document.getElementById(decodeURIComponent(link.hash.slice(1))));
    const follow = () => {
      const now = links[headings.findLastIndex((heading) => heading.getBoundingClientRect().top < 0.3 * innerHeight)];
      if (now?.ariaCurrent) return;
      links.forEach((link) => { link.ariaCurrent = link === now ? "true" : null; });
      here.textContent = now?.textContent ?? "";
    };
    follow();
    addEventListener("scroll", follow, { passive: true });
  }

  // The map: what is done of each lesson, and where to begin or go on.
  const asked = document.getElementById("asked");
  if (asked) {
    const counts = JSON.parse(asked.textContent);
    const rows = [...document.querySelectorAll("main table tr")].filter((row) => row.cells[0].textContent in counts);
    rows.forEach((row) => row.append(make("td", { className: "done" })));
    rows[0].closest("table").className = "map";
    rows[0].closest("table").rows[0].append(make("th", { textContent: "done" }));
    const begin = make("p", { className: "begin" });
    const save = make("a", { textContent: "save it as a file", download: "dplearn-progress.json", href: "#" });
    save.addEventListener("click", () => {
      save.href = URL.createObjectURL(new Blob([dplearnProgress.export()], { type: "application/json" }));
    });
    const file = make("input", { type: "file", accept: ".json", hidden: true, id: "load" });
    const [told, lost, load, forget] = [make("output", {}), make("p", {}), make("button", { textContent: "load a file" }), make("button", { textContent: "forget it" })];
    load.addEventListener("click", () => file.click());
    forget.addEventListener("click", () => dplearnProgress.clear());
    file.addEventListener("change", async () => {
      const text = await file.files[0].text();
      file.value = "";
      try {
        dplearnProgress.import(text);
        told.textContent = "Loaded.";
      } catch (error) {
        told.textContent = error.message;
      }
    });
    const where = dplearnProgress.forgets ? FORGETS : "Your progress stays in this browser and is sent nowhere:";
    rows[0].closest(".wide").before(begin, make("p", { className: "kept" }, `${where} `, save, ", ", load, ", ", forget, ". ", file, told), lost);
    always(() => {
      lost.textContent = dplearnProgress.spoilt();
      for (const row of rows) {
        const lesson = row.cells[0].textContent;
        const text = share(lesson, counts[lesson]);
        row.lastChild.textContent = text && dplearnProgress.done(lesson) >= counts[lesson] ? `✓ ${text}` : text;
      }
      const open = rows.filter((row) => dplearnProgress.done(row.cells[0].textContent) < counts[row.cells[0].textContent]);
      const begun = open.find((row) => dplearnProgress.done(row.cells[0].textContent));
      const next = begun ?? open[0] ?? rows[0];
      const link = next.querySelector("a").cloneNode(true);
      begin.replaceChildren(next === rows[0] && !begun ? "Start here: " : "Go on with ", link, `, ${next.cells[2].textContent}.`);
    });
  }
}
