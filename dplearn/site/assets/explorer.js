// Epsilon against the number of steps, computed and drawn here; the address keeps the run.
// `STYLES`, label, colour and symbol of each accountant, is written beside the engine.
"use strict";

document.querySelector("main").classList.add("wide");
const FINE = 400;
const inputs = [...document.querySelectorAll(".run input")];
const ends = (input) => input.dataset.ends.split(" ").map(Number);
const value = (input) => {
  const [low, high] = ends(input);
  const exact = low * (high / low) ** (input.value / FINE);
  return input.name === "steps" ? Math.round(exact) : Number(exact.toPrecision(3));
};
const set = (input, wanted) => {
  const [low, high] = ends(input);
  const share = Math.log(Math.min(Math.max(wanted, low), high) / low) / Math.log(high / low);
  input.value = Math.round(share * FINE);
};
const asked = new URLSearchParams(location.hash.slice(1) || location.search);
for (const input of inputs) {
  input.min = 0;
  input.max = FINE;
  const [top, bottom] = (asked.get(input.name) ?? input.dataset.start).split("/").map(Number);
  set(input, (bottom ? top / bottom : top) || Number(input.dataset.start));
}

const grid = (largest) => {
  const points = Array.from({ length: 46 }, (_, i) => Math.round(largest ** (i / 45)));
  return [...new Set(points)];
};
// Four digits, away from what was proved.
const rounded = (x, round) => {
  const unit = 10 ** (Math.floor(Math.log10(x)) - 3);
  return x > 0 ? Number((round(x / unit) * unit).toPrecision(4)) : 0;
};

function show(draft) {
  const [noiseMultiplier, sampleRate, delta, largest] = inputs.map(value);
  const steps = grid(largest);
  const run = { noiseMultiplier, sampleRate, delta, adjacency: "add_remove" };
  const all = dplearn.curves(run, steps, { draft });
  const traces = Object.entries(STYLES).map(([name, [label, color, symbol]]) => ({
    x: steps, y: all[name].upper.map((e) => (e < Infinity ? e : null)), name: label, mode: "lines+markers",
    line: { color, width: name === "pld" ? 3 : 2, dash: name === "gdp" ? "dot" : "solid" },
    marker: { symbol, size: 7 }, hovertemplate: `${label}: ε = %{y:.4~g} at T = %{x}<extra></extra>`,
  }));
  const axis = { gridcolor: "#e3e4e8", zeroline: false };
  const top = 4 * (all.pld.upper.at(-1) || all.rdp.upper.at(-1));
  const layout = {
    margin: { l: 60, r: 10, t: 10, b: 50 }, height: 520, font: { size: 14, color: "#262b36" },
    xaxis: { ...axis, type: "log", title: { text: "steps T" } },
    yaxis: { ...axis, title: { text: "ε at δ" }, range: [0, top] },
    legend: { orientation: "h", y: 1.02, yanchor: "bottom" }, paper_bgcolor: "#fff", plot_bgcolor: "#fff", dragmode: false,
  };
  Plotly.react("curves", traces, layout, { displayModeBar: false, responsive: true });
  const [low, high] = [all.pld.lower.at(-1), all.pld.upper.at(-1)];
  const bound = all.rdp.upper.at(-1);
  const proved = high === null ? `ε ≤ ${rounded(bound, Math.ceil)} (RDP; no bracket was found here)`
    : `${rounded(low, Math.floor)} ≤ ε ≤ ${rounded(high, Math.ceil)}; RDP proves ε ≤ ${rounded(bound, Math.ceil)}`;
  document.getElementById("sentence").textContent =
    `After T = ${largest} steps with σ = ${noiseMultiplier}, q = ${sampleRate} at δ = ${delta}: ${proved}.`;
  for (const input of inputs) input.previousElementSibling.textContent = String(value(input));
}

let waiting = false;
document.querySelector(".run").addEventListener("input", () => {
  if (waiting) return;
  waiting = true;
  requestAnimationFrame(() => {
    waiting = false;
    show(true);
  });
});
document.querySelector(".run").addEventListener("change", () => {
  show(false);
  const address = new URLSearchParams(inputs.map((input) => [input.name, String(value(input))]));
  history.replaceState(null, "", `#${address}`);
});
show(false);
