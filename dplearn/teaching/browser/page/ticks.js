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
    const count = Math.floor(high / step + 1e-9) + 1;
    const values = Array.from({ length: count }, (_, i) => Number((i * step).toPrecision(6)));
    return values.map((value) => [value, true]);
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
