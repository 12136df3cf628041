// A hundred members and a hundred others: numbers of people that an attacker accuses, by the certified
// trade-off between true and false positive rates.
import { clamp, people, text, up } from "./numbers.js";
import { el, set } from "./shapes.js";

const RADIUS = 3.7;
const SIDES = ["members", "others"];

export class People {
  constructor(box, words) {
    this.words = words;
    this.sides = SIDES.map((kind, i) => {
      const group = document.createElement("figure");
      group.className = `dp-hundred dp-${kind}`;
      const picture = el("svg", { viewBox: "-1 -1 102 102", "aria-hidden": "true" });
      const dots = Array.from({ length: 100 }, (_, j) => {
        const place = { cx: (j % 10) * 10 + 5, cy: Math.floor(j / 10) * 10 + 5 };
        picture.append(el("circle", { ...place, r: RADIUS, class: "dp-one" }));
        return picture.appendChild(el("circle", { ...place, r: 0, class: "dp-found" }));
      });
      const [title, caption, number] = ["div", "figcaption", "b"].map((tag) => document.createElement(tag));
      title.textContent = words[kind];
      caption.append(number, ` ${i ? words.accused : words.found}`);
      group.append(title, picture, caption);
      box.append(group);
      return { dots, number };
    });
  }

  /** Show the attacker's true positive rate: null without a bound, undefined before a result. */
  show(share, rate) {
    const [members, others] = this.sides;
    fill(others, rate);
    fill(members, share ?? 0);
    set(others.number, "text", text(up(100 * rate)));
    set(members.number, "text", share === undefined ? "…" : share === null ? "?" : people(share));
  }
}

/** Draw a fraction of a person as that fraction of a dot's area; leave out less than a twentieth. */
function fill({ dots }, share) {
  const part = (i) => clamp(100 * share - i, 0, 1);
  dots.forEach((dot, i) => set(dot, "r", (part(i) < 0.05 ? 0 : RADIUS * Math.sqrt(part(i))).toFixed(2)));
}
