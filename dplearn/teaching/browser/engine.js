// Functions of the engine that pages call.
export { ACCOUNTANTS, curves } from "./curves.js";
export { truePositiveRate } from "./attack.js";
export { binomialTail } from "./composition.js";
