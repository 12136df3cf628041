// Questions that need not be answered within a frame: a worker takes them, the newest of each kind.

/** What runs in the worker, and in the page where there is none. It stands on nothing around it:
 * its text is sent. */
export function answering(dplearn) {
  /** The last number of steps within a budget, proved from both sides; `open` where one is not. */
  const crossing = (run, name, budget, limit) => {
    const within = (steps) => {
      const upper = dplearn.curves(run, [steps], { accountants: [name] })[name]?.upper[0] ?? null;
      return upper === null ? null : upper <= budget;
    };
    let [low, high] = [0, 1];
    while (high <= limit && within(high)) [low, high] = [high, 4 * high];
    if (high > limit && within(limit)) return { name, steps: limit, beyond: true };
    high = Math.min(high, limit);
    while (high - low > 1) {
      const middle = Math.floor((low + high) / 2);
      const held = within(middle);
      if (held === null) return { name, steps: low, open: true };
      if (held) low = middle;
      else high = middle;
    }
    return { name, steps: low };
  };
  const answers = {
    attack: ({ run, steps, rate }) => dplearn.truePositiveRate(run, steps, rate),
    curve: ({ run, steps }) => dplearn.curves(run, steps, { accountants: ["pld"] }).pld,
    crossings: ({ run, budget, names, limit }) => names.map((name) => crossing(run, name, budget, limit)),
  };
  return ({ kind, question }) => {
    try {
      return answers[kind](question);
    } catch {
      return null;
    }
  };
}

/** `ask(kind, question, then)`: one question is under way, and of each kind the newest waits. */
export function askLater(engine, source) {
  const waiting = new Map();
  const here = answering(engine);
  let worker = source ? started(source) : null;
  let then = null;
  const next = () => {
    if (then || !waiting.size) return;
    const [kind, [question, answered]] = waiting.entries().next().value;
    waiting.delete(kind);
    then = answered;
    if (worker) worker.postMessage({ kind, question });
    else setTimeout(() => finish(here({ kind, question })));
  };
  const finish = (answer) => {
    const answered = then;
    then = null;
    answered?.(answer);
    next();
  };
  if (worker) {
    worker.onmessage = ({ data }) => finish(data);
    worker.onerror = () => {
      worker = null;
      finish(null);
    };
  }
  const ask = (kind, question, answered) => {
    waiting.set(kind, [question, answered]);
    next();
  };
  return { ask, end: () => worker?.terminate() };
}

function started(source) {
  const body = `const answer = (${answering})((${source})());
    self.onmessage = ({ data }) => self.postMessage(answer(data));`;
  try {
    return new Worker(URL.createObjectURL(new Blob([body], { type: "text/javascript" })));
  } catch {
    return null;
  }
}
