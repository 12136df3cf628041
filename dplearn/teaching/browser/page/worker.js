// Slow questions, answered by a worker; only the latest waiting question of each kind is stored.

/** Return the function that answers questions in the worker, or in the page without a worker. The worker
 * gets this function's text, so it must not use outer names. */
export function answering(dplearn) {
  /** Return the last step within a budget, with proof that the next exceeds it; else `open`. */
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

/** Return a worker that answers one question at a time by the function `make(argument)`. The argument is the
 * expression `given` in the worker, or `here` in the page without a worker. */
export function helper(make, given, here, then) {
  let [worker, answer, asked] = [null, null, null];
  const inPage = () => {
    worker = null;
    setTimeout(() => then((answer ??= make(here))(asked)));
  };
  const body = `const answer = (${make})(${given}); onmessage = ({ data }) => postMessage(answer(data));`;
  try {
    if (given) worker = new Worker(URL.createObjectURL(new Blob([body], { type: "text/javascript" })));
  } catch {
    // Without a worker, the page answers.
  }
  if (worker) Object.assign(worker, { onmessage: ({ data }) => then(data), onerror: inPage });
  const ask = (question) => {
    asked = question;
    if (worker) worker.postMessage(question);
    else inPage();
  };
  return { ask, end: () => worker?.terminate() };
}

/** Return `ask(kind, question, then)`: one question runs, and the latest one of each kind waits. */
export function askLater(engine, source) {
  const waiting = new Map();
  let then = null;
  const next = () => {
    if (then || !waiting.size) return;
    const [kind, [question, answered]] = waiting.entries().next().value;
    waiting.delete(kind);
    then = answered;
    ask({ kind, question });
  };
  const { ask, end } = helper(answering, source && `(${source})()`, engine, (answer) => {
    const answered = then;
    then = null;
    answered?.(answer);
    next();
  });
  return {
    ask(kind, question, answered) {
      waiting.set(kind, [question, answered]);
      next();
    },
    end,
  };
}
