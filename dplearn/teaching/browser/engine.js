// The engine of the explorer's first page: what a page may call.
export { ACCOUNTANTS, curves } from "./curves.js";
export { truePositiveRate } from "./attack.js";
export { binomialTail } from "./composition.js";
