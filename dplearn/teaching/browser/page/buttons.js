// What buttons and choices do to the run in view.
import { ACCOUNTANTS } from "./accountants.js";
import { reached } from "./answers.js";
import { copied, python, shell } from "./files.js";
import { changed, fromAddress, pinned, valueOf } from "./run.js";
import { lastingKey } from "./text.js";

/** What a button does; false where the run is as it was. */
const ACTIONS = {
  units(page) {
    const { run } = page;
    page.run = run.B ? { ...run, B: 0 } : changed(run, "B", valueOf(run, "B"));
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
    revealed();
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
  python(page, node) {
    return copied(node, python(page.run), page.words.copied);
  },
  shell(page, node) {
    return copied(node, shell(page.run), page.words.copied);
  },
};

export function act(page, button) {
  const { chip, do: name } = button.dataset;
  const { run } = page;
  if (chip) {
    const shownNext = ACCOUNTANTS.filter((name) => run.shown.includes(name) !== (name === chip));
    if (shownNext.length) page.run = { ...run, shown: shownNext };
  } else if (ACTIONS[name](page, button) === false) return;
  page.schedule();
  page.rest();
}

export function choose(page, { name, value }) {
  if (name === "preset" && value) {
    const { run } = fromAddress(value, page.kinds);
    page.run = { ...run, shown: page.run.shown, pin: page.run.pin };
    page.unread = [];
    page.framed();
  }
  if (!["adjacency", "mechanism", "sampling"].includes(name)) return;
  // Neighbours for which the scheme has a theorem.
  const suited = name === "sampling" ? { adjacency: page.kinds.natural[value] } : {};
  page.run = { ...page.run, [name]: value, ...suited };
  page.unread = [];
  page.framed();
}

/** Bring what the server has drawn below the page into view. */
function revealed(tries = 600) {
  const part = document.querySelector(".st-key-details h3");
  if (part) part.scrollIntoView({ block: "start", behavior: "smooth" });
  else if (tries) setTimeout(revealed, 100, tries - 1);
}
