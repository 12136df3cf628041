// Functions of the engine that pages call. Parameters without a type are numbers.
export { ACCOUNTANTS, curves, rateBound, truePositiveRate } from "./curves.js";
export { binomialTail } from "./composition.js";
export { halved, lastWhere } from "./search.js";
