// A hundred members and a hundred others, of whom an attacker accuses some.
import { clamp, people, text, up } from "./numbers.js";
import { el, set } from "./shapes.js";

const RADIUS = 3.7;

export class People {
  constructor(box, words) {
    box.innerHTML = Object.entries({ members: words.found, others: words.accused }).map(([kind, said]) => `<figure class="dp-hundred dp-${kind}">
      <div>${words[kind]}</div><svg viewBox="-1 -1 102 102" aria-hidden="true"></svg><figcaption><b></b> ${said}</figcaption></figure>`).join("");
    this.sides = [...box.children].map((group) => {
      const dots = Array.from({ length: 100 }, (_, j) => {
        const place = { cx: (j % 10) * 10 + 5, cy: Math.floor(j / 10) * 10 + 5 };
        const dot = el("circle", { ...place, r: 0, class: "dp-found" });
        group.querySelector("svg").append(el("circle", { ...place, r: RADIUS, class: "dp-one" }), dot);
        return dot;
      });
      return { dots, number: group.querySelector("b") };
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
