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

/** A number as it stands in a sentence, with all its digits: what is proved of it is not of another. */
export const text = (x) => {
  if (x === Infinity) return "∞";
  if (x === 0) return "0";
  if (x < 0) return `−${text(-x)}`;
  if (x < 1e7 && x >= 1e-3) return spaced(String(Number(x.toPrecision(12))));
  const exponent = Math.floor(Math.log10(x) + 1e-12);
  const mantissa = Number((x / 10 ** exponent).toPrecision(12));
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

export const percent = (share) => `${text(digits(100 * share, 12))}\u202f%`;

/** A share of people in per cent: rounded up, and never to all of them where some are missing. */
export const people = (share) => text(share > 0.998 && share < 1 ? Math.min(up(100 * share, 6), 100) : up(100 * share));

// Digits in threes, parted by one kind of sign; two digits after a comma are no number here.
const GROUPED = /^[1-9]\d{0,2}(?:([ \u202f\u00a0'’,])\d{3})(?:\1\d{3})*(?:\.\d*)?$/;
const NUMBER = /^([-+]?(?:\d+\.?\d*|\.\d+))(?:e([-+]?\d+))?$|^(?:(.+?)[×·*])?10(?:\^|\*\*)([-+]?\d+)$/i;
const FACTOR = /^(?:\d+\.?\d*|\.\d+)$/;

const plain = (part) => {
  const [, mantissa, exponent = "0", factor = "1", power] = NUMBER.exec(GROUPED.test(part) ? part.replace(/[^\d.]/g, "") : part) ?? [];
  if (mantissa) return Number(`${mantissa}e${exponent}`);
  return power && FACTOR.test(factor.trim()) ? Number(`${factor.trim()}e${power}`) : NaN;
};

/** What somebody typed: 256/60000, 1 %, 10^-5, 2·10⁻⁶; NaN where it is no number, as 1,5. */
export const read = (typed) => {
  const digit = (c) => (c === "⁻" ? "-" : RAISED.indexOf(c));
  const bare = typed.trim().replace(/[⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+/g, (raised) => `^${[...raised].map(digit).join("")}`).replace(/−/g, "-");
  const [top, bottom = 1, ...more] = bare.replace(/%$/, "").split("/").map((part) => plain(part.trim()));
  return more.length || bottom === 0 ? NaN : (top / bottom) * (bare.endsWith("%") ? 0.01 : 1);
};

// Numbers that drags, keys and addresses set: the range of each, and what a drag or a press does.

const SHARES = ["rate", "sample_rate", "false_positive_rate"];

/** A number as it stands in a sentence, as it is typed, and as it is heard. */
export const shown = (name, value) => (SHARES.includes(name) ? percent : text)(value);
export const typed = (name, value) => (SHARES.includes(name) ? `${digits(100 * value, 12)} %` : String(value));
export const heard = (words, name, value) => (SHARES.includes(name) ? words.share(value) : String(value));

/** Why a typed number is not taken. */
export const refusal = (code, label, name, { ends: [low, high], whole }) => {
  const [from, to] = [low, high].map((end) => shown(name, end));
  if (code === "zh") return `“${label}”应为 ${from} 到 ${to} 的${whole ? "整数" : "数"}，小数点用“.”`;
  return `${label} is ${whole ? "a whole number" : "a number"} from ${from} to ${to}, with a point for decimals`;
};

/** The value that a field allows nearest to a number; `even` fields have a linear scale. */
export const nearest = ({ ends, whole }, value) => clamp(whole ? Math.round(value) : value, ...ends);

/** The state that an address names, by field: one has `ends`, `options`, or takes any word; a `start`, and
 * perhaps another `key` in addresses. `unread` is what the address says in vain. */
export function opened(address, fields) {
  const all = new URLSearchParams(address);
  /** @type {[any, string[]]} */
  const [state, unread] = [{}, []];
  for (const [name, { start, options, ends, key = name, ...field }] of Object.entries(fields)) {
    const said = all.get(key);
    all.delete(key);
    const value = ends && said !== null ? read(said) : said;
    const good = ends ? nearest({ ends, ...field }, value) === value : (options?.includes(said) ?? true);
    state[name] = said !== null && good ? value : start;
    if (said !== null && !good) unread.push(`${key}=${said.slice(0, 40)}`);
  }
  all.delete("language");
  for (const [key, said] of all) unread.push(`${key}=${said.slice(0, 40)}`);
  return { state, unread: unread.slice(0, 5) };
}

/** The address of a state: the fields that are not as at the start. */
export const queryOf = (state, fields) => {
  const moved = Object.entries(fields).filter(([name, { start }]) => state[name] !== start);
  return new URLSearchParams(moved.map(([name, { key = name }]) => [key, String(state[name])]));
};

/** The value after one press of an arrow key: a unit of the second digit, or of the first. */
export const pressed = (field, value, way, large) => {
  const [low, high] = field.ends;
  if (field.even && !field.whole) return nearest(field, digits(value + (way * (high - low)) / (large ? 10 : 50), 6));
  // A number that is just reached from above belongs to the decade below.
  const decade = Math.floor(Math.log10(value * (1 + way * 1e-9)));
  const unit = Math.max(value > 0 ? 10 ** (decade - (large ? 0 : 1)) : 0, field.whole ? 1 : 0);
  return nearest(field, Number((value + way * unit).toPrecision(6)));
};

/** A number after a drag of so many pixels. */
export const dragged = (field, from, pixels) => {
  const [low, high] = field.ends;
  const to = field.even ? from + ((high - low) * pixels) / 400 : from * 10 ** (pixels / field.pixels);
  return digits(nearest(field, to), field.digits);
};

// Round numbers, for axes.

/** A number of one digit, no smaller (way 1) or no larger (way -1). */
export const nice = (x, way, mantissas = [1, 2, 5, 10]) => {
  const unit = 10 ** Math.floor(Math.log10(x) + 1e-12);
  if (way > 0) return unit * mantissas.find((m) => m * unit >= x * (1 - 1e-9));
  return unit * [...mantissas].reverse().find((m) => m * unit <= x * (1 + 1e-9));
};

/** Ticks from low to high: [value, whether it is written].
 * @returns {[number, boolean][]} */
export function ticks(log, low, high, room) {
  if (!log) {
    const step = nice((high - low) / room, 1);
    const first = Math.ceil(low / step - 1e-9);
    const count = Math.floor(high / step + 1e-9) - first + 1;
    return Array.from({ length: count }, (_, i) => [Number(((first + i) * step).toPrecision(6)), true]);
  }
  const decades = Math.log10(high / low);
  /** @type {[number, boolean][]} */
  const all = [];
  for (let k = Math.floor(Math.log10(low) + 1e-9); k <= Math.ceil(Math.log10(high)); k++) {
    for (const mantissa of decades > 6 ? [1] : [1, 2, 5]) {
      const value = Number((mantissa * 10 ** k).toPrecision(3));
      const inside = value >= low * (1 - 1e-9) && value <= high * (1 + 1e-9);
      if (inside) all.push([value, mantissa === 1 || decades < 1.7]);
    }
  }
  return all;
}
