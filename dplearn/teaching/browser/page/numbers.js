// Numbers as a reader writes and sees them: upper ends are rounded up, lower ends down.

export const clamp = (x, low, high) => Math.min(Math.max(x, low), high);

/** A number with so many significant digits. */
export const digits = (x, count) => (x ? Number(x.toPrecision(count)) : 0);

const rounded = (round, doubt) => (x, count = 3) => {
  if (!(x > 0) || x === Infinity) return x;
  const unit = 10 ** (Math.floor(Math.log10(x)) - count + 1);
  return Number((round(x / unit + doubt) * unit).toPrecision(count));
};
// The doubt is that of the division: a number that has so few digits stays as it is.
export const up = rounded(Math.ceil, -1e-9);
export const down = rounded(Math.floor, 1e-9);

const RAISED = "⁰¹²³⁴⁵⁶⁷⁸⁹";
/** A power of ten: 10⁻⁵. */
export const power = (exponent) => {
  const raised = [...String(Math.abs(exponent))].map((c) => RAISED[c]).join("");
  return `10${exponent < 0 ? "⁻" : ""}${raised}`;
};

/** Digits in threes where there are more than four. */
const spaced = (number) => {
  const [whole, part] = number.split(".");
  const parted = whole.length > 4 ? whole.replace(/\B(?=(\d{3})+$)/g, "\u202f") : whole;
  return part ? `${parted}.${part}` : parted;
};

/** A number as it stands in a sentence. */
export const text = (x) => {
  if (x === Infinity) return "∞";
  if (x === 0) return "0";
  if (x < 1e7 && x >= 1e-3) return spaced(String(Number(x.toPrecision(12))));
  const exponent = Math.floor(Math.log10(x) + 1e-12);
  const mantissa = Number((x / 10 ** exponent).toPrecision(3));
  return mantissa === 1 ? power(exponent) : `${mantissa}·${power(exponent)}`;
};

/** An upper bound, always with so many digits: a number that loses its last 0 would twitch. */
export const bound = (x, count = 3) => {
  if (x === Infinity) return "∞";
  if (!(x > 0)) return "0";
  const value = up(x, clamp(Math.ceil(Math.log10(x) + 1e-12), count, 7));
  if (value >= 1e7 || value < 1e-3) return text(up(x, count));
  return value >= 1000 ? text(value) : value.toPrecision(Math.max(count, value >= 100 ? 3 : 1));
};

export const percent = (share) => `${text(digits(100 * share, 4))}\u202f%`;

/** A share of people in per cent: rounded up, and never to all of them where some are missing. */
export const people = (share) => text(share > 0.998 && share < 1 ? Math.min(up(100 * share, 6), 100) : up(100 * share));

/** What somebody typed: 256/60000, 1 %, 10^-5, 2·10⁻⁶; NaN where it is no number. */
export const read = (typed) => {
  const plain = [...typed]
    .map((c) => (RAISED.includes(c) ? RAISED.indexOf(c) : c === "⁻" || c === "−" ? "-" : c))
    .join("")
    .replace(/[\s\u202f,_]/g, "")
    .replace(/[×·*]10\^?/, "e")
    .replace(/^10\^?-/, "1e-");
  const [top, bottom, ...more] = plain.replace("%", "").split("/");
  const [a, b] = [top, bottom ?? "1"].map((part) => (part === "" ? NaN : Number(part)));
  return more.length ? NaN : (a / b) * (plain.includes("%") ? 0.01 : 1);
};
