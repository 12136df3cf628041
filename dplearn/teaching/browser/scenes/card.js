// The card: one square picture with everything in it, as a reader saves and sends it.
import { bound } from "../page/numbers.js";
import { save } from "../page/files.js";
import { el, widthOf } from "../page/shapes.js";
import { Plane, VIEWS, chart } from "./chart.js";
import { numbers, verdict } from "./text.js";

const SIZE = 1080;
const EDGE = 64;
const FAMILY = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Noto Sans', 'PingFang SC', 'Noto Sans CJK SC', sans-serif";
// On paper, in the light and in the dark alike.
const COLOURS = { ink: "#1d2230", soft: "#5a6172", grid: "#e2e4ea", pld: "#256ed1", guess: "#a85a00", sent: "#8a8f9c" };

/** The card of a run: what was guessed, what is proved, the picture and the address of the page. */
export function card(minute) {
  const { run, truth, guess, say, place } = minute;
  const epsilon = bound(truth.at(run.T).upper);
  const judged = guess && verdict(minute);
  const [after, alone] = ["after", "unguessed"].map((name) => say(name, { ...numbers(run), epsilon }));
  const [first, second, third] = judged ? [say("guessed", judged), judged.card, after] : [say("truth", { epsilon }), "", alone];
  const wide = SIZE - 2 * EDGE;
  const drawn = el("g", { transform: `translate(${EDGE} 290)` }, ...picture(minute, wide, 430));
  const about = [...say("run", numbers(run)).split(/[,，。] ?|\.$/).filter(Boolean), say(run.adjacency)];
  return el(
    "svg",
    { xmlns: "http://www.w3.org/2000/svg", viewBox: `0 0 ${SIZE} ${SIZE}`, width: SIZE, height: SIZE, "font-family": FAMILY, class: "dm-card", role: "img", "aria-label": `${first} ${second} ${third}` },
    el("rect", { width: SIZE, height: SIZE, fill: "#fff" }),
    words(EDGE, 130, first, 76, wide, judged ? COLOURS.guess : COLOURS.pld, 700),
    words(EDGE, 200, second, 46, wide, COLOURS.ink, 600),
    words(EDGE, 268, third, 46, wide, COLOURS.pld, 700),
    drawn,
    ...about.map((line, i) => words(EDGE, 800 + 42 * i, line, 32, wide, COLOURS.soft)),
    words(EDGE, 980, place ? say("turn") : "", 44, wide, COLOURS.ink, 700),
    words(EDGE, 1036, place || "dplearn", 32, wide, COLOURS.soft, 700),
  );
}

/** A line of words, smaller where it would be too long. */
function words(x, y, said, size, room, fill, weight = 400) {
  const fitting = Math.min(1, room / widthOf(said, `${weight} ${size}px ${FAMILY}`));
  return el("text", { x, y, fill, "font-size": (size * fitting).toFixed(1), "font-weight": weight }, said);
}

/** The truth beside the guess, with its colours at each node. */
function picture(minute, width, height) {
  const say = (name, values) => minute.say(name === "yours" ? "mine" : name, values);
  const view = VIEWS[1]({ ...minute, sent: null, say });
  const nodes = chart(new Plane({ width, height, em: 30 }, view), view, { say });
  for (const node of nodes) {
    const kind = node.getAttribute("class") ?? "";
    // The card is on paper, whatever the page is on.
    node.removeAttribute("class");
    const colour = Object.entries(COLOURS).find(([name]) => kind.includes(`dm-${name}`))?.[1] ?? COLOURS.soft;
    if (node.tagName === "text") {
      node.setAttribute("fill", colour);
      node.setAttribute("font-size", kind.includes("dm-value") ? "36" : "27");
      if (kind.includes("dm-value")) node.setAttribute("font-weight", "700");
    } else if (node.tagName === "circle") node.setAttribute("fill", colour);
    else {
      node.setAttribute("fill", "none");
      node.setAttribute("stroke", colour);
      node.setAttribute("stroke-width", kind.includes("dm-line") ? "7" : "2");
    }
  }
  return nodes;
}

const textOf = (node) => new XMLSerializer().serializeToString(node);

export const saveSvg = (node) => save("epsilon.svg", "image/svg+xml", textOf(node));

/** The card as pixels. */
export const savePng = async (node) => {
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(textOf(node))}`;
  await image.decode();
  const canvas = document.createElement("canvas");
  canvas.width = canvas.height = SIZE;
  canvas.getContext("2d").drawImage(image, 0, 0);
  const blob = await new Promise((done) => canvas.toBlob(done, "image/png"));
  save("epsilon.png", "image/png", blob);
};
