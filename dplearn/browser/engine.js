// The engine of the explorer's first page: what a page may call.
export { curves, looseness } from "./curves.js";
