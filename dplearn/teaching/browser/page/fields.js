// Numbers that drags, keys and addresses set: the range of each, and what a drag or a press does.
import { clamp, digits, percent, text } from "./numbers.js";

const SHARES = ["rate", "sample_rate", "false_positive_rate"];

/** A number as it stands in a sentence, as it is typed, and as it is heard. */
export const shown = (name, value) => (SHARES.includes(name) ? percent : text)(value);
export const typed = (name, value) => (SHARES.includes(name) ? `${digits(100 * value, 12)} %` : String(value));
export const heard = (words, name, value) => (SHARES.includes(name) ? words.share(value) : String(value));

/** The value that a field allows nearest to a number. */
export const nearest = ({ ends, whole }, value) => clamp(whole ? Math.round(value) : value, ...ends);

/** The value after one press of an arrow key: a unit of the second digit, or of the first. */
export const pressed = (field, value, way, large) => {
  // A number that is just reached from above belongs to the decade below.
  const decade = Math.floor(Math.log10(value * (1 + way * 1e-9)));
  const unit = Math.max(10 ** (decade - (large ? 0 : 1)), field.whole ? 1 : 0);
  return nearest(field, Number((value + way * unit).toPrecision(6)));
};

/** A number after a drag of so many pixels. */
export const dragged = (field, from, pixels) =>
  digits(nearest(field, from * 10 ** (pixels / field.pixels)), field.digits);
