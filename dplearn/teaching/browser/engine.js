// Functions of the engine that pages call. Parameters without a type are numbers.
export { ACCOUNTANTS, curves } from "./curves.js";
export { truePositiveRate } from "./attack.js";
export { binomialTail } from "./composition.js";
