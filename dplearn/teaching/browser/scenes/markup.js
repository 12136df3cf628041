// The nodes of the minute, without what a scene shows.

const COUNT = 5;
const FULL = '<svg viewBox="0 0 20 20" aria-hidden="true"><path d="M2 7V2H7M13 2H18V7M18 13V18H13M7 18H2V13"/></svg>';

/** Empty places for words, picture and card; the buttons. */
export function markup({ say }) {
  const button = (name, words, more = "") => `<button type="button" data-do="${name}" ${more}>${words}</button>`;
  const icon = (name, sign) => button(name, sign, `class="dm-icon" aria-label="${say(name)}" title="${say(name)}"`);
  const dot = (_, i) => button("goto", "", `data-scene="${i}" aria-label="${say("goto", { scene: i + 1 })}"`);
  const copy = button("copy", say(navigator.share ? "share" : "copy"));
  return `<section class="dm" lang="${say("code")}" aria-label="${say("minute")}"><div class="dm-in">
<div class="dm-say" aria-live="polite"><h2 class="dm-head"></h2><p class="dm-text"></p><p class="dm-small"></p></div>
<div class="dm-stage"><svg class="dm-svg"></svg><div class="dm-holder"></div></div>
<p class="dm-acts">${button("png", say("png"))} ${button("svg", say("svg"))} ${copy} <a data-do="explore">${say("explore")}</a></p>
<div class="dm-bar">${button("other", say("other"))}
<span class="dm-moves">${icon("back", "‹")}<span class="dm-dots">${Array.from({ length: COUNT }, dot).join("")}</span>${icon("next", "›")}</span>
${document.fullscreenEnabled ? icon("full", FULL) : "<span></span>"}</div></div></section>`;
}
