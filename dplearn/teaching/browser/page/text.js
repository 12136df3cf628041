// Texts of the page: the picture's results in sentences.
import { Answers, reached } from "./answers.js";
import { escaped } from "./html.js";
import { bound, clamp, digits, down, shown, text } from "./numbers.js";
import { ACCOUNTANTS, STYLES, proved } from "./run.js";
import { describe, set } from "./shapes.js";

/** Write all texts outside the picture, depending on the status of the run in view. */
export function writeText(page) {
  const { run, words, view, picture, server } = page;
  const { best: { name, value }, found, status } = view;
  const known = (said, /** @type {any} */ otherwise = "") => (status === "known" ? said() : otherwise);
  page.writeNumbers();
  if (words.code === "en") page.write(".dp-unit", words.unit(run.T));
  describe(picture.curve, [0, 1e9], known(() => value, 0), known(() => words.curve(bound(value, 6), run), "…"));
  page.write(".dp-eps output", known(() => bound(value), status === "asked" ? "…" : "?"));
  page.write(".dp-plain", known(() => words.factor(value, run.adjacency)));
  page.write(".dp-unread", found.refused ?? words.unread(page.unread));
  page.body.classList.toggle("dp-waits", Boolean(found.asked && server.waiting && !found.refused));
  page.write(".dp-claimed", known(() => claim(page)));
  page.write(".dp-away", server.send && away() ? words.away : "");
  writeProof(page, view.ends.pld, name);
  page.write(".dp-pinned", view.pinned ? known(() => comparison(page, value)) : "");
  const rows = view.points.map((row) => `◎ ${row.value}, T = ${text(row.T)}`);
  const printed = rows.join("; ") || page.preset?.printed;
  page.write(".dp-printed-list", printed ? known(() => words.printed(printed, bound(value))) : "");
  page.write("[data-do=go]", known(() => words.lasting(lasts(page, "pld")), "…"));
  writeButtons(page, value);
  if (page.find(".dp-more").open) writeTable(page);
}

/** Return whether Streamlit reports a lost connection. */
const away = () => !["CONNECTED", undefined].includes(document.querySelector("[data-test-connection-state]")?.getAttribute("data-test-connection-state"));

function writeButtons(page, value) {
  const { run, words, view } = page;
  const flags = { "dp-by-counts": run.B > 0, "dp-overbudget": value > run.budget && value < Infinity, "dp-asked": !proved(run) };
  for (const [flag, holds] of Object.entries(flags)) page.body.classList.toggle(flag, holds);
  for (const name of ACCOUNTANTS) {
    const chip = page.find(`[data-chip=${name}]`);
    set(chip, "aria-pressed", String(run.shown.includes(name)));
    set(chip, "title", view.found.refusals?.[name] ?? STYLES[name].about[words.code]);
  }
  for (const [i, said] of words.chance[run.sampling === "poisson" ? 0 : 1].entries()) page.write(`.dp-rate-${i}`, said);
  page.write("[data-do=pin]", run.pin ? words.unpin : words.pin);
  for (const key of ["title", "aria-label"]) set(page.find("[data-do=units]"), key, run.B ? words.asRate : words.asCounts);
  page.write("[data-do=logEpsilon]", run.logEpsilon ? words.linear : words.log);
  for (const name of ["adjacency", "mechanism", "sampling"]) {
    const choice = page.find(`[name=${name}]`);
    if (choice && choice !== document.activeElement) choice.value = String(run[name]);
  }
}

function writeProof(page, { lower, upper } = { lower: null, upper: null }, name) {
  const { run, words, view, confirmed } = page;
  const known = upper !== null;
  const precise = (x) => Number(x.toPrecision(11));
  const agreed = confirmed?.key === Answers.key(run, [run.T]) ? confirmed.agrees : null;
  const proof = () => {
    if (view.status !== "known") return view.status === "asked" ? words.waiting : "";
    if (!known) return words.open(STYLES[name].label[words.code]);
    if (upper === 0) return words.fits;
    if (lower > 0.9 * upper) return words.proved(clamp(Math.floor(-Math.log10(1 - lower / upper)), 1, 12));
    return lower > 0 ? words.between(text(down(lower, 3))) : words.above;
  };
  const said = `${proof()}${agreed ? `; ${words.agrees}` : ""}`;
  const bracket = known ? `${precise(lower ?? 0)} ≤ ε ≤ ${precise(upper)}` : "";
  page.body.classList.toggle("dp-disagrees", agreed === false);
  page.write(".dp-tick", known && agreed !== false ? "✓" : "○");
  page.write(".dp-proved", agreed === false ? words.disagrees(bracket) : said);
  set(page.find(".dp-proved"), "title", bracket);
}

/** Return the sentence on the claim of Poisson accounting and on the proved bound, or "". */
function claim({ run, words, view: { found, ends } }) {
  const at = found.claim && !found.stale ? found.steps.indexOf(run.T) : -1;
  if (at < 0 || !ends.pld) return "";
  return words.claim(bound(found.claim[at]), text(down(ends.pld.lower, 3)), ends.pld.lower > found.claim[at]);
}

/** Return the ratio of epsilon to the pinned run's, with the fields that differ. */
function comparison({ run, words, view: { pinned: { was } } }, value) {
  const differs = [["σ", "noise_multiplier"], ["q", "sample_rate"], ["δ", "delta"], ["T", "T"]]
    .filter(([, name]) => run.pin[name] !== run[name])
    .map(([sign, name]) => `${sign} ${shown(name, run.pin[name])}`);
  return words.than(text(digits(value / was, 2)), bound(was), differs.join(", "));
}

/** Return the number of steps within the budget: proved, or interpolated during a drag. */
function lasts(page, name) {
  const { words, run, view: { found } } = page;
  const { steps: proved, beyond, open } = page.lasting(name) ?? {};
  if (proved !== undefined) return beyond ? words.moreThan(text(proved)) : open ? words.atLeast(text(proved)) : text(proved);
  if (!found.of[name]) return "…";
  const steps = reached(found, name, run.budget);
  if (steps === Infinity) return words.moreThan(text(found.steps.at(-1)));
  return steps ? `≈ ${text(steps < 1000 ? Math.floor(steps) : down(steps, 3))}` : "0";
}

function writeTable(page) {
  const { run, words, answers } = page;
  const ends = answers.at(run, run.T, ACCOUNTANTS.filter((name) => !STYLES[name].served));
  const rows = ACCOUNTANTS.map((name) => {
    const { lower, upper } = ends[name] ?? { lower: null, upper: null };
    const approximate = STYLES[name].approximation && run.sample_rate < 1;
    const below = lower && name === "pld" ? `${down(lower, 8)} ≤ ` : "";
    const epsilon = upper === null ? "—" : `${below}ε ${approximate ? "≈" : "≤"} ${bound(upper, name === "pld" ? 8 : 5)}`;
    const budget = run.shown.includes(name) && !approximate ? lasts(page, name) : "";
    return [STYLES[name].label[words.code], epsilon, budget, STYLES[name].about[words.code]];
  });
  page.find(".dp-more tbody").innerHTML = rows.map((row) => `<tr>${row.map((cell) => `<td>${escaped(cell)}</td>`).join("")}</tr>`).join("");
}
