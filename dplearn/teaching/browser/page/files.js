// What can be taken along: the curves as CSV, the picture as SVG, the run as code.
import { ACCOUNTANTS } from "./accountants.js";
import { proved } from "./run.js";

/** One row a number of steps, both ends of what is proved of each accountant. */
export function csv(engine, run, { steps, of }) {
  const all = proved(run) ? engine.curves(run, steps, {}) : of;
  const names = ACCOUNTANTS.filter((name) => all[name]);
  const columns = names.flatMap((name) => (all[name].lower ? [`${name}_lower`, `${name}_upper`] : [name]));
  const told = `# noise_multiplier=${run.noise_multiplier} sample_rate=${run.sample_rate} delta=${run.delta} sampling=${run.sampling} adjacency=${run.adjacency}${kind(run)}`;
  const rows = steps.map((T, i) => {
    const ends = names.flatMap((name) => {
      const { lower, upper } = all[name];
      return lower ? [lower[i], upper[i]] : [upper[i]];
    });
    // A point without a proof is empty.
    return [T, ...ends.map((end) => end ?? "")].join();
  });
  return [told, ["steps", ...columns].join(), ...rows, ""].join("\n");
}

const kind = ({ mechanism, then }) =>
  (mechanism === "gaussian" ? "" : ` mechanism=${mechanism}`) + (then ? ` then=${then.replace(/\s/g, "")}` : "");

/** The run in the package's own words. */
export function python(run) {
  const rate = run.B ? `${run.B} / ${run.N}` : String(run.sample_rate);
  const drawn = run.sample_rate < 1 ? run.sampling : "none";
  const named = drawn.endsWith("_drop_last") ? 'sampling="shuffled", drop_last=True' : `sampling="${drawn}"`;
  const sampling = drawn === "poisson" ? "" : `, ${named}`;
  const asked = `delta=${run.delta}, adjacency="${run.adjacency}"`;
  const plan = (sigma, q, T) => `DPSGD(noise_multiplier=${sigma}, sample_rate=${q}, steps=${T}${sampling})`;
  if (run.mechanism !== "gaussian") {
    return `from dplearn import MECHANISMS
from dplearn.mechanisms.sampling_scheme import sampled

noise = MECHANISMS["${run.mechanism}"](${run.noise_multiplier})
step = sampled(noise, sampling="${drawn}", sample_rate=${rate})
print(step.guarantee("pld", ${asked}, steps=${run.T}))
`;
  }
  const then = run.then.split(";").filter((one) => one.trim()).map((one) => plan(...one.split(",").map((part) => part.trim())));
  const first = plan(run.noise_multiplier, rate, run.T);
  const made = then.length ? `Phases((${[first, ...then].join(", ")}))` : first;
  return `from dplearn.run import DPSGD${then.length ? ", Phases" : ""}

plan = ${made}
print(plan.guarantee("pld", ${asked}))
`;
}

/** The run as a command. */
export function shell(run) {
  const adjacency = run.adjacency === "add_remove" ? "" : ` --adjacency ${run.adjacency}`;
  const drawn = run.sample_rate < 1 ? `--sample-rate ${run.sample_rate}` : "--sampling none";
  return `dplearn epsilon --noise-multiplier ${run.noise_multiplier} ${drawn} --steps ${run.T} --delta ${run.delta} --accountant all${adjacency}`;
}

const DRAWN = ["fill", "stroke", "stroke-width", "stroke-dasharray", "opacity", "visibility", "font", "text-anchor", "paint-order"];

/** The picture as a file of its own: what the style sheet says stands at each node. */
export function svg(node) {
  const copy = node.cloneNode(true);
  const [from, to] = [node, copy].map((one) => [...one.querySelectorAll("*")]);
  from.forEach((one, i) => {
    const style = getComputedStyle(one);
    if (style.visibility !== "hidden") for (const name of DRAWN) to[i].style.setProperty(name, style.getPropertyValue(name));
  });
  const unseen = from.flatMap((one, i) => {
    const hit = /dp-(hit|pull|grip|arrows)/.test(one.getAttribute("class") ?? "");
    return hit || getComputedStyle(one).visibility === "hidden" ? [to[i]] : [];
  });
  for (const one of unseen) one.remove();
  copy.setAttribute("xmlns", "http://www.w3.org/2000/svg");
  copy.style.setProperty("background", getComputedStyle(node.closest(".dp")).backgroundColor);
  return new XMLSerializer().serializeToString(copy);
}

/** Hand a text to the reader as a file. */
export function save(name, kind, content) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([content], { type: kind }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

/** Copy a text and say so on the button for a while; where nothing may be copied, show it. */
export function copied(node, content, done) {
  const before = node.textContent;
  const tell = () => {
    node.textContent = done;
    setTimeout(() => (node.textContent = before), 1500);
  };
  const shownInstead = () => prompt("", content);
  if (navigator.clipboard) navigator.clipboard.writeText(content).then(tell, shownInstead);
  else shownInstead();
  return false;
}
