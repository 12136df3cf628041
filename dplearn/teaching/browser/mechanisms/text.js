// The words of the page: what the pictures say, said again in sentences and to those who only hear.
import { heard, shown } from "../page/numbers.js";
import { describe, set } from "../page/shapes.js";
import { NAMES, SETS } from "./pictures.js";

/** Write everything that is not in the pictures. */
export function writeText(page) {
  const { words, state, catalogue, view, waiting } = page;
  const say = (selector, said) => set(page.body.querySelector(selector), "text", said);
  for (const node of page.numbers) {
    // Somebody types.
    if (!node.querySelector("input")) writeNumber(page, node, node.dataset.drag, true);
  }
  for (const name of NAMES) {
    const { handle } = page.pictures.of[name];
    writeNumber(page, handle, SETS[handle.dataset.drag], false);
  }
  const { covered, two_sided, conditions } = catalogue.mechanisms[state.mechanism];
  const chosen = { ...state, adjacency: catalogue.adjacency(state), base: catalogue.base(state) };
  for (const node of page.body.querySelectorAll("select")) {
    node.value = chosen[node.name];
    if (node.name === "adjacency") for (const option of node.options) option.disabled = !covered.includes(option.value);
    if (node.name === "direction") node.hidden = !two_sided;
  }
  const problem = page.unread.length ? words.unread(page.unread) : waiting && !page.send ? words.elsewhere : page.refused;
  say(".dp-unread", problem);
  const { real, reason, conditions: own = conditions } = view?.pair.law ?? {};
  say(".dp-assumed", words.assumed(own[words.code]) + (real ? words.real : "") + (reason ? words.none(reason[words.code]) : ""));
  page.body.classList.toggle("dp-waiting", Boolean(waiting));
  if (!view) return;
  say(".dp-le", view.exact ? "=" : "≤");
  say(".dp-eps output", view.delta);
  say(".dp-proof", words.proof({ exact: view.exact, waiting: waiting && page.send }));
  say(".dp-proves", words.proves(view));
  page.people.show({ upper: view.true_positive_rate }, state.false_positive_rate, (finds) => say(".dp-finds", finds));
}

function writeNumber({ state, catalogue, words }, node, name, written) {
  const value = state[name];
  if (written) set(node, "text", shown(name, value));
  describe(node, catalogue.fields[name].ends, value, heard(words, name, value));
}
