// Where others find this page, and how a machine in a room is told of it.
import { el } from "../page/shapes.js";
import { generate } from "./qr.js";

const OWN = /^(localhost|127(\.\d+){3}|\[::1\]|0\.0\.0\.0)$/;
/** Readable where up to 15 % of it is not. */
const encoded = /** @type {any} */ (generate);
// Light around a code, in modules.
const QUIET = 4;

/** The address without its state that others can open; where there is none, why: "file" or
 * "local". `lan` is the origin at which the server says that the network reaches it. */
export function placeOf({ protocol, hostname, pathname, origin }, lan, start) {
  if (protocol === "file:") return { base: null, why: "file", start };
  const own = OWN.test(hostname);
  if (own && !lan) return { base: null, why: "local", start };
  return { base: `${own ? lan : origin}${pathname.replace(/index\.html$/, "")}`, why: "", start };
}

/** An address as a code, dark on light, in a square of pixels. */
export function code(address, x, y, size) {
  const bits = encoded(address, { minCorrectionLevel: 1 });
  const unit = size / (bits.size + 2 * QUIET);
  const dark = Array.from({ length: bits.size ** 2 }, (_, i) => [i % bits.size, Math.floor(i / bits.size)])
    .filter(([column, row]) => bits.get(column, row))
    .map(([column, row]) => `M${column} ${row}h1v1h-1z`);
  const place = `translate(${x} ${y}) scale(${unit}) translate(${QUIET} ${QUIET})`;
  const light = { x: -QUIET, y: -QUIET, width: bits.size + 2 * QUIET, height: bits.size + 2 * QUIET, fill: "#fff" };
  return el("g", { class: "dm-code", transform: place }, el("rect", light), el("path", { d: dark.join(""), fill: "#000" }));
}
