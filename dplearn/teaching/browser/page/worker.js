// Slow questions, answered by a worker.

/** Return `ask(kind, question, then)` and `end()`. A worker answers one question at a time; the latest of each kind
 * waits. The function `make(given)` answers in the worker, which gets its text: it must not use outer names. Without a
 * worker, `make(here)` answers in the page. `given` is the text of an expression. */
export function askLater(make, given, here) {
  const waiting = new Map();
  let [worker, answer, current] = [null, null, null];
  const take = (result) => {
    const { then } = current;
    current = null;
    then(result);
    next();
  };
  const inPage = () => {
    worker = null;
    if (current) setTimeout(() => take((answer ??= make(here))(current.question)));
  };
  const next = () => {
    if (current || !waiting.size) return;
    const [kind] = waiting.keys();
    current = waiting.get(kind);
    waiting.delete(kind);
    if (worker) worker.postMessage(current.question);
    else inPage();
  };
  const body = `const answer = (${make})(${given}); onmessage = ({ data }) => postMessage(answer(data));`;
  try {
    worker = new Worker(URL.createObjectURL(new Blob([body], { type: "text/javascript" })));
    Object.assign(worker, { onmessage: ({ data }) => take(data), onerror: inPage });
  } catch {
    // Without a worker, the page answers.
  }
  return {
    ask(kind, question, then) {
      waiting.set(kind, { question: { kind, ...question }, then });
      next();
    },
    end: () => worker?.terminate(),
  };
}

/** Return the function that answers questions by the engine, or with null after an error. */
export function answering(dplearn) {
  /** Return the last step within a budget; `open` if it is not proved that the next step exceeds the budget. */
  const crossing = (run, name, budget, limit) => {
    let [low, high, open] = [0, 1, false];
    const within = (T) => {
      const upper = dplearn.curves(run, [T], { accountants: [name] })[name].upper[0];
      const holds = upper !== null && upper <= budget;
      // The last step that fails here is the step after the result.
      if (!holds) open = upper === null;
      return holds;
    };
    while (high <= limit && within(high)) [low, high] = [high, 4 * high];
    if (high > limit && within(limit)) return { name, steps: limit, beyond: true };
    return { name, steps: dplearn.lastWhere(low, Math.min(high, limit), within), open };
  };
  const answers = {
    attack: ({ run, steps, rate }) => dplearn.truePositiveRate(run, steps, rate),
    curve: ({ run, steps }) => dplearn.curves(run, steps, { accountants: ["pld"] }).pld,
    crossings: ({ run, budget, names, limit }) => names.map((name) => crossing(run, name, budget, limit)),
  };
  return ({ kind, ...question }) => {
    try {
      return answers[kind](question);
    } catch {
      return null;
    }
  };
}
