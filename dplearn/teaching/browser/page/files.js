// Export of a run as Python code, and copying to the clipboard.

/** Return Python code that computes epsilon of a run. */
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
  return `from dplearn.run import DPSGD

plan = ${plan(run.noise_multiplier, rate, run.T)}
print(plan.guarantee("pld", ${asked}))
`;
}

/** Copy a text and confirm it briefly on the button; if copying is not allowed, show the text. */
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
