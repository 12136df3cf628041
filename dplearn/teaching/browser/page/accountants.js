// Accountants of the library's registry, passed to `mount`; none is listed here.

/** Outlines of marks by Plotly's symbol names. */
const OUTLINES = {
  circle: "M0-4A4 4 0 1 1 0 4A4 4 0 1 1 0-4Z", "triangle-up": "M0-5L5 4H-5Z", "triangle-down": "M0 5L5-4H-5Z",
  square: "M-4-4H4V4H-4Z", diamond: "M0-5.5L5 0L0 5.5L-5 0Z", cross: "M-1.6-5H1.6V-1.6H5V1.6H1.6V5H-1.6V1.6H-5V-1.6H-1.6Z",
  star: "M0-6L1.6-2H6L2.4 1L3.8 5.4L0 2.8L-3.8 5.4L-2.4 1L-6-2H-1.6Z", x: "M-4-4L4 4M-4 4L4-4", hexagon: "M-5 0L-2.5-4.3H2.5L5 0L2.5 4.3H-2.5Z",
};
/** Names in the order of the chips. */
export const ACCOUNTANTS = [];
/** Styles by name: label, outline and classes of the mark, a description by language, whether it is an
 * `approximation`, and whether only the server computes it (`served`). */
export const STYLES = { pinned: { outline: OUTLINES.circle, classes: "dp-pinned" } };

/** Register the accountants; without a server, only those of the engine. */
export function register(accountants, engine, server) {
  const able = accountants.filter(({ name }) => server || engine.ACCOUNTANTS.includes(name));
  ACCOUNTANTS.splice(0, ACCOUNTANTS.length, ...able.map(({ name }) => name));
  for (const { name, label, symbol, about, kind } of able) {
    const approximation = kind === "approximate";
    const classes = `dp-${name}${approximation ? " dp-approximate" : ""}`;
    STYLES[name] = { label, outline: OUTLINES[symbol], classes, about, approximation, served: !engine.ACCOUNTANTS.includes(name) };
  }
}
