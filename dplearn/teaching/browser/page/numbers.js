// Parsing and formatting of numbers; upper ends are rounded up, lower ends down.

export const clamp = (x, low, high) => Math.min(Math.max(x, low), high);

/** Return a number rounded to `count` significant digits. */
export const digits = (x, count) => (x ? Number(x.toPrecision(count)) : 0);

const rounded = (round, doubt) => (x, count = 3) => {
  if (!(x > 0) || x === Infinity) return x;
  const unit = 10 ** (Math.floor(Math.log10(x)) - count + 1);
  return Number((round(x / unit + doubt) * unit).toPrecision(count));
};
// The tolerance covers the division's rounding: numbers with few digits stay unchanged.
export const up = rounded(Math.ceil, -1e-9);
export const down = rounded(Math.floor, 1e-9);

const [RAISED, PLAIN] = ["⁰¹²³⁴⁵⁶⁷⁸⁹⁻", "0123456789-"];
/** Return a power of ten as text: 10⁻⁵. */
export const power = (exponent) => `10${String(exponent).replace(/./g, (c) => RAISED[PLAIN.indexOf(c)])}`;

// Digits are grouped in threes if there are more than four before the point.
const GROUPS = new Intl.NumberFormat("en", { useGrouping: "min2", maximumSignificantDigits: 12 });

/** Return a number for a sentence, unrounded, because proofs hold for this number only. */
export const text = (x) => {
  if (x === Infinity) return "∞";
  if (x === 0) return "0";
  if (x < 0) return `−${text(-x)}`;
  if (x < 1e7 && x >= 1e-3) return GROUPS.format(digits(x, 12)).replaceAll(",", "\u202f");
  const exponent = Math.floor(Math.log10(x) + 1e-12);
  const mantissa = Number((x / 10 ** exponent).toPrecision(12));
  return mantissa === 1 ? power(exponent) : `${mantissa}·${power(exponent)}`;
};

/** Return an upper bound with a fixed number of digits, so that its width does not change. */
export const bound = (x, count = 3) => {
  if (x === Infinity) return "∞";
  if (!(x > 0)) return "0";
  const value = up(x, clamp(Math.ceil(Math.log10(x) + 1e-12), count, 7));
  if (value >= 1e7 || value < 1e-3) return text(up(x, count));
  return value >= 1000 ? text(value) : value.toPrecision(Math.max(count, value >= 100 ? 3 : 1));
};

export const percent = (share) => `${text(digits(100 * share, 12))}\u202f%`;

/** Return a share of people in per cent, rounded up; above 99.8 with six digits, to stay below 100. */
export const people = (share) => text(share > 0.998 && share < 1 ? Math.min(up(100 * share, 6), 100) : up(100 * share));

// Digits grouped in threes by one kind of separator; a decimal comma is invalid.
const GROUPED = /^[1-9]\d{0,2}(?:([ \u202f\u00a0'’,])\d{3})(?:\1\d{3})*(?:\.\d*)?$/;
const NUMBER = /^([-+]?(?:\d+\.?\d*|\.\d+))(?:e([-+]?\d+))?$|^(?:(\d+\.?\d*|\.\d+)\s*[×·*])?10(?:\^|\*\*)([-+]?\d+)$/i;

const plain = (part) => {
  const [, mantissa, exponent = "0", factor = "1", power] = NUMBER.exec(GROUPED.test(part) ? part.replace(/[^\d.]/g, "") : part) ?? [];
  return Number(mantissa ? `${mantissa}e${exponent}` : `${factor}e${power}`);
};

/** Parse typed text such as 256/60000, 1 %, 10^-5, 2·10⁻⁶; NaN for invalid text such as 1,5. */
export const read = (typed) => {
  const bare = typed.trim().replace(/[⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+/g, (raised) => `^${[...raised].map((c) => PLAIN[RAISED.indexOf(c)]).join("")}`).replace(/−/g, "-");
  const [top, bottom = 1, ...more] = bare.replace(/%$/, "").split("/").map((part) => plain(part.trim()));
  return more.length || bottom === 0 ? NaN : (top / bottom) * (bare.endsWith("%") ? 0.01 : 1);
};

// Fields that are displayed in per cent.
const SHARES = ["rate", "sample_rate", "false_positive_rate"];

/** Formats of a number: displayed, in an input field, and for screen readers. */
export const shown = (name, value) => (SHARES.includes(name) ? percent : text)(value);
export const typed = (name, value) => (SHARES.includes(name) ? `${digits(100 * value, 12)} %` : String(value));
export const heard = (words, name, value) => (SHARES.includes(name) ? words.share(value) : String(value));

export const refusal = (code, label, name, { ends: [low, high], whole }) => {
  const [from, to] = [low, high].map((end) => shown(name, end));
  if (code === "zh") return `“${label}”应为 ${from} 到 ${to} 的${whole ? "整数" : "数"}，小数点用“.”`;
  return `${label} is ${whole ? "a whole number" : "a number"} from ${from} to ${to}, with a point for decimals`;
};

export const nearest = ({ ends, whole }, value) => clamp(whole ? Math.round(value) : value, ...ends);

/** Return the state of an address, and its invalid or unknown fields as `unread`. A field has `ends`, `options`
 * or free text, a `start` value, and optionally another `key` in addresses. */
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

export const queryOf = (state, fields) => {
  const moved = Object.entries(fields).filter(([name, { start }]) => state[name] !== start);
  return new URLSearchParams(moved.map(([name, { key = name }]) => [key, String(state[name])]));
};

/** Return the value after an arrow key, which adds a unit of the second digit, or of the first if `large`. */
export const pressed = (field, value, way, large) => {
  const [low, high] = field.ends;
  if (field.even && !field.whole) return nearest(field, digits(value + (way * (high - low)) / (large ? 10 : 50), 6));
  // A power of ten decreases by a unit of the decade below.
  const decade = Math.floor(Math.log10(value * (1 + way * 1e-9)));
  const unit = Math.max(value > 0 ? 10 ** (decade - (large ? 0 : 1)) : 0, field.whole ? 1 : 0);
  return nearest(field, Number((value + way * unit).toPrecision(6)));
};

export const dragged = (field, from, pixels) => {
  const [low, high] = field.ends;
  const to = field.even ? from + ((high - low) * pixels) / 400 : from * 10 ** (pixels / field.pixels);
  return digits(nearest(field, to), field.digits);
};

/** Return a round number >= x (way 1) or <= x (way -1). */
export const nice = (x, way, mantissas = [1, 2, 5, 10]) => {
  const unit = 10 ** Math.floor(Math.log10(x) + 1e-12);
  if (way > 0) return unit * mantissas.find((m) => m * unit >= x * (1 - 1e-9));
  return unit * mantissas.findLast((m) => m * unit <= x * (1 + 1e-9));
};

/** Return the ticks from low to high as [value, label], with an empty label for minor ticks. */
export function ticks(log, low, high, room, label = text) {
  if (!log) {
    const step = nice((high - low) / room, 1);
    const first = Math.ceil(low / step - 1e-9);
    const count = Math.floor(high / step + 1e-9) - first + 1;
    return Array.from({ length: count }, (_, i) => Number(((first + i) * step).toPrecision(6))).map((value) => [value, label(value)]);
  }
  const decades = Math.log10(high / low);
  const first = Math.floor(Math.log10(low) + 1e-9);
  const powers = Array.from({ length: Math.ceil(Math.log10(high)) - first + 1 }, (_, i) => 10 ** (first + i));
  const marks = powers.flatMap((power) => (decades > 6 ? [1] : [1, 2, 5]).map((m) => ({ m, value: Number((m * power).toPrecision(3)) })));
  const inside = marks.filter(({ value }) => value >= low * (1 - 1e-9) && value <= high * (1 + 1e-9));
  return inside.map(({ m, value }) => [value, m === 1 || decades < 1.7 ? label(value) : ""]);
}
