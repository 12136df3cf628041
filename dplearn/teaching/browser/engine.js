// Functions of the engine that pages call. Parameters without a type are numbers.
export { ACCOUNTANTS, curves } from "./curves.js";
export { rateBound, truePositiveRate } from "./attack.js";
export { binomialTail } from "./composition.js";
export { halved, lastWhere } from "./search.js";
