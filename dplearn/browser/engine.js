// The engine of the explorer's first page: what a page may call.
export { ACCOUNTANTS, curves, looseness } from "./curves.js";
export { truePositiveRate } from "./attack.js";
