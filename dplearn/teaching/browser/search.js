// Roots, minima and bisection.

/** Return a point just right of a decreasing function's root on [lower, inf). @param {(x: number) => number} value */
export function inverse(value, lower) {
  let upper = 2 * lower || 1;
  while (value(upper) > 0) {
    lower = upper;
    upper *= 2;
  }
  // Bracket a small root within a factor 4: from a lower end of 0 the search would only bisect.
  while (lower === 0 && upper > 1e-9 && value(upper / 4) <= 0) upper /= 4;
  return decreasingRoot(value, lower || (upper > 1e-9 ? upper / 4 : 0), upper);
}

/** Return a point just right of a decreasing function's root in [a, b], with a computed value <= 0. Interpolate,
 * truncate, project (Oliveira & Takahashi 2020). @param {(x: number) => number} value */
export function decreasingRoot(value, a, b) {
  let [fa, fb] = [value(a), value(b)];
  if (fa <= 0) return a;
  let width = b - a;
  for (; b - a > 1e-12 * b + 1e-300; width /= 2) {
    const [middle, half] = [0.5 * (a + b), 0.5 * (b - a)];
    const raw = (b * fa - a * fb) / (fa - fb);
    const falsi = Number.isFinite(raw) ? raw : middle;
    const towards = Math.sign(middle - falsi);
    const nudge = Math.max((0.2 * half * half) / b, 0.25e-12 * b);
    const inner = nudge <= Math.abs(middle - falsi) ? falsi + towards * nudge : middle;
    // With one extra step, the bracket is never wider than by bisection.
    const room = Math.max(width - half, 0);
    const x = Math.abs(inner - middle) <= room ? inner : middle - towards * room;
    if (!(x > a && x < b)) break;
    const fx = value(x);
    if (fx <= 0) [b, fb] = [x, fx];
    else [a, fa] = [x, fx];
  }
  return b;
}

/** Return the minimum over [a, c], given that the value at b is below those at a and c; stop when the values at both
 * ends are within the relative distance `close` of it. @param {(x: number) => number} value @param {number} [close] */
export function smallest(value, a, b, c, close = 1e-8) {
  let [fa, fb, fc] = [a, b, c].map(value);
  let before = Infinity;
  for (let trial = 0; fb > 0 && Math.max(fa, fc) - fb > close * fb && trial < 100; trial++) {
    // Vertex of the parabola through the three points; after little progress, split the longer side.
    const [left, right] = [(b - a) * (fb - fc), (b - c) * (fb - fa)];
    let x = b - (0.5 * ((b - a) * left - (b - c) * right)) / (left - right);
    const side = c - b > b - a ? c - b : a - b;
    if (!(x > a && x < c && x !== b) || c - a > 0.6 * before) x = b + 0.1 * side;
    before = c - a;
    const fx = value(x);
    if (fx < fb) {
      if (x < b) [c, fc] = [b, fb];
      else [a, fa] = [b, fb];
      [b, fb] = [x, fx];
    } else if (x < b) [a, fa] = [x, fx];
    else [c, fc] = [x, fx];
  }
  return fb;
}

/** Return a number just above the last number in [low, high] where `holds` is true, by `rounds` halvings. */
export function halved(low, high, rounds, holds) {
  for (let i = 0; i < rounds; i++) {
    const middle = 0.5 * (low + high);
    if (holds(middle)) low = middle;
    else high = middle;
  }
  return high;
}

/** Return the last integer where `holds` is true, given that it is true at `low` and false at `high`. */
export function lastWhere(low, high, holds) {
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (holds(middle)) low = middle;
    else high = middle;
  }
  return low;
}
