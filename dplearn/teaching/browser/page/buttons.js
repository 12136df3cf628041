// What buttons and choices do to the run in view.
import { ACCOUNTANTS } from "./accountants.js";
import { reached } from "./answers.js";
import { copied, csv, python, save, shell, svg } from "./files.js";
import { read } from "./numbers.js";
import { allowed, changed, fromAddress, pinned, valueOf, written } from "./run.js";
import { lastingKey } from "./text.js";

/** What a button does; false where the run is as it was. */
const ACTIONS = {
  units(page) {
    const { run } = page;
    page.run = run.B ? { ...run, B: 0 } : changed(run, "B", valueOf(run, "B"), page.kinds);
  },
  noise_multiplier(page) {
    page.change("noise_multiplier", page.answers.noise(page.run, page.run.T, page.run.budget));
  },
  sample_rate(page) {
    const rate = page.answers.rate(page.run, page.run.budget);
    if (rate) page.change("sample_rate", rate);
  },
  prove(page) {
    page.wanted = "prove";
  },
  pin(page) {
    page.run = { ...page.run, pin: page.run.pin ? null : pinned(page.run) };
  },
  logT(page) {
    page.run = { ...page.run, logT: !page.run.logT };
    page.frame.span = page.frame.suiting(page.run);
  },
  logEpsilon(page) {
    page.run = { ...page.run, logEpsilon: !page.run.logEpsilon };
    page.frame.span = page.frame.suiting(page.run);
  },
  go(page) {
    const found = page.lasting?.key === lastingKey(page.run) && page.lasting.all.find((one) => one.name === "pld");
    const steps = found ? found.steps : Math.floor(reached(page.view.found, "pld", page.run.budget) ?? 0);
    if (steps >= 1 && steps < Infinity) page.change("T", steps);
  },
  guess(page) {
    page.guessing = !page.guessing;
    if (page.guessing) page.stroke = [];
  },
  language(page) {
    const other = page.words.code === "en" ? "zh" : "en";
    if (page.onLanguage) page.onLanguage(other);
    else page.speakIn(other);
    return false;
  },
  link(page, node) {
    return copied(node, link(page.run), page.words.copied);
  },
  python(page, node) {
    return copied(node, python(page.run), page.words.done);
  },
  shell(page, node) {
    return copied(node, shell(page.run), page.words.done);
  },
  csv(page) {
    save("epsilon.csv", "text/csv", csv(page.engine, page.run, page.view.found));
    return false;
  },
  svg(page) {
    save("epsilon.svg", "image/svg+xml", svg(page.svg));
    return false;
  },
};

export function click(page, event) {
  const { dataset } = event.target.closest("button") ?? { dataset: {} };
  const { run } = page;
  if (dataset.chip) {
    const shownNext = ACCOUNTANTS.filter((name) => run.shown.includes(name) !== (name === dataset.chip));
    if (shownNext.length) page.run = { ...run, shown: shownNext };
  } else if (dataset.do) {
    if (ACTIONS[dataset.do](page, event.target) === false) return;
  } else return;
  page.schedule();
  page.rest();
}

export function choose(page, event) {
  if (event.target.name === "preset" && event.target.value) {
    const { run } = fromAddress(event.target.value, page.kinds);
    page.run = { ...run, shown: page.run.shown, logT: page.run.logT, logEpsilon: page.run.logEpsilon, pin: page.run.pin };
    page.unread = [];
    event.target.value = "";
    page.framed();
  }
  const { name, value } = event.target;
  if (name === "first" && allowed("T", read(value)) === read(value)) page.run = { ...page.run, first: read(value) };
  if (!["adjacency", "mechanism", "sampling", "then", "first"].includes(name)) return;
  // Neighbours for which the scheme has a theorem.
  const suited = name === "sampling" ? { adjacency: page.kinds.natural[value] } : {};
  if (name !== "first") page.run = { ...page.run, [name]: value.trim(), ...suited };
  page.unread = [];
  page.framed();
}

/** The address of a run; the language, which is that of all pages, stays. */
export function link(run) {
  const language = new URLSearchParams(location.search).get("language");
  const here = location.href.split(/[?#]/)[0] + (language ? `?language=${language}` : "");
  return written(run) ? `${here}#${written(run)}` : here;
}
