// HTML elements shared by the pages.

export const escaped = (words) => words.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/"/g, "&quot;");
export const button = (name, words, more = "") => `<button type="button" data-do="${name}" ${more}>${words}</button>`;
/** Return a number that can be dragged, typed or stepped by keys. */
export const number = (words, name, label, about = "") =>
  `<b data-drag="${name}" role="slider" tabindex="0" aria-label="${escaped(label)}" title="${escaped(about && `${about} `)}${words.how}"></b>`;
export const select = (name, label, options) =>
  `<select name="${name}" aria-label="${label}">${options.map(([value, said]) => `<option value="${escaped(value)}">${escaped(said)}</option>`).join("")}</select>`;
/** Return a text with its Greek letters in italics. */
export const italics = (said) => said.replace(/([σδεα])(?![^<]*>)/g, "<i>$1</i>");
