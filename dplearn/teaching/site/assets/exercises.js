// Fields for predictions, exercises and self-tests; answers are judged as by dplearn.teaching.classroom.
"use strict";

const answers = (() => {
  const CLOSE = 0.03; // relative distance within which a wrong answer is called close
  const TOO_FAR = 1e6; // a guess that is wrong by more than this factor is not drawn
  const BEYOND = "numbers beyond 1.8e308 are infinite here; write a finite one.";

  const NAMES = { __proto__: null, pi: Math.PI, e: Math.E, sqrt: Math.sqrt, exp: Math.exp, log: Math.log, ln: Math.log };
  const TOKEN = /(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?|\*\*|[-+*/^()]|(?:(?:math|np)\.)?[a-z]+/g;

  // Return the value of arithmetic as in Python, such as 3.73*200/71, or NaN for other texts.
  function computed(text) {
    const parts = (text.length < 200 && text.match(TOKEN)) || [];
    const took = (...signs) => (signs.includes(parts[0]) ? parts.shift() : "");
    const sum = () => {
      let value = product();
      for (let sign; (sign = took("+", "-")); ) value += sign === "+" ? product() : -product();
      return value;
    };
    const product = () => {
      let value = factor();
      for (let sign; (sign = took("*", "/")); ) value = sign === "*" ? value * factor() : value / (factor() || NaN);
      return value;
    };
    const factor = () => {
      const sign = took("+", "-");
      if (sign) return sign === "+" ? factor() : -factor();
      const base = atom();
      return took("**", "^") ? base ** factor() : base;
    };
    const atom = () => {
      const part = parts.shift() ?? "";
      const named = part === "(" ? (x) => x : NAMES[part.replace(/.*\.(?=[a-z])/, "")];
      if (typeof named !== "function") return named ?? (part ? Number(part) : NaN);
      if (part !== "(" && !took("(")) return NaN;
      const value = named(sum());
      return took(")") ? value : NaN;
    };
    const value = sum();
    return parts.length || text.replace(TOKEN, "").trim() ? NaN : value;
  }

  // Return the number that a text stands for, or a sentence on what to type instead. The text is a number as
  // in the explorer's fields, or arithmetic. As in Python, a number may contain _ but no blank.
  function readNumber(text) {
    // NFKC would turn 10⁻² into 10-2.
    const plain = /[⁻⁰¹²³⁴-⁹]/.test(text) ? text : text.normalize("NFKC");
    const typed = plain.replaceAll("\u2212", "-").trim().toLowerCase();
    if (/^[+-]?nan$/.test(typed)) return { problem: "nan is not a number; look for 0/0 or the log of a negative number." };
    if (/^[+-]?inf(inity)?$/.test(typed)) return { number: typed[0] === "-" ? -Infinity : Infinity };
    if (/\d.* ?(%|per ?cent)$/.test(typed)) {
      return { problem: "write a number between 0 and 1 instead of per cent, such as 0.03 for 3 %." };
    }
    const bare = typed.replace(/(\d)_(?=\d)/g, "$1");
    const number = [numbers.read(bare), computed(bare)].find((value) => !Number.isNaN(value));
    if (number !== undefined) return { number };
    const comma = /^[+-]?\d+,\d+$/.test(typed) ? `a point, as in ${typed.replace(",", ".")}` : "one such as 0.25";
    return { problem: `“${text.trim()}” is no number; write ${comma}.` };
  }

  // Return the number that a text stands for, if it is finite, or a sentence on what to type instead.
  function readGuess(text) {
    const { number, problem } = readNumber(text);
    return Math.abs(number) === Infinity ? { problem: BEYOND } : { number, problem };
  }

  // Return a number as Python's format "g" writes it: rounded half to even, without zeros at the end.
  function inDigits(number, digits) {
    if (!Number.isFinite(number)) return number > 0 ? "inf" : "-inf";
    let [mantissa, exponent] = number.toExponential(digits - 1).split("e");
    const exact = number.toExponential(60).split("e")[0];
    const tie = new RegExp(`^(-?\\d\\.?\\d{${digits - 1}})50*$`).exec(exact);
    if (tie && "02468".includes(tie[1].at(-1))) [mantissa, exponent] = [tie[1], number.toExponential(60).split("e")[1]];
    const bare = (shown) => (shown.includes(".") ? shown.replace(/\.?0+$/, "") : shown);
    const power = Number(exponent);
    if (power >= -4 && power < digits) return bare(Number(`${mantissa}e${power}`).toFixed(digits - 1 - power));
    return `${bare(mantissa)}e${power < 0 ? "-" : "+"}${String(Math.abs(power)).padStart(2, "0")}`;
  }

  // Return a number in four significant digits, but whole numbers below a million in full.
  const written = (number) => Math.abs(number) < 1e6 && number === Math.round(number)
    ? String(Math.round(number) + 0) : inDigits(number, 4);

  const isClose = (one, other, share) => one === other
    || (Number.isFinite(one - other) && Math.abs(one - other) <= share * Math.max(Math.abs(one), Math.abs(other)));

  // Return the unit of the last digit of a number: 0.01 for 3.25.
  function lastDigit(number) {
    const [mantissa, exponent] = Math.abs(number).toExponential().split("e");
    return Number(`1e${Number(exponent) - (mantissa.split(".")[1] ?? "").length}`);
  }

  // Judge the text in the field of an exercise: right, a known mistake, close or wrong.
  function judge(exercise, text) {
    const { item, right: [right, share], mistakes, hints, praise } = exercise;
    if (!text.trim()) return { outcome: "open", head: `${item} not answered yet`, messages: ["write your number in the field."] };
    const { number, problem } = readNumber(text);
    if (problem) return { outcome: "unreadable", head: `${item} not readable`, messages: [problem] };
    if (isClose(number, right, share)) return { outcome: "right", head: `${item} right, ${written(number)}`, messages: [praise] };
    const head = `${item} not yet, ${written(number)}`;
    const slip = mistakes.find(([value, its]) => isClose(number, Number(value), its));
    if (slip) return { outcome: "mistake", head, messages: slip[2] };
    if (Math.abs(number) === Infinity) return { outcome: "unreadable", head: `${item} not readable`, messages: [BEYOND] };
    const whole = share === 0;
    if (!whole && isClose(number, right, CLOSE)) {
      const rounded = Math.abs(number - right) <= lastDigit(number);
      const near = "close, but not equal: something small is left out, or was rounded on the way.";
      return { outcome: "close", head, messages: [rounded ? "close: give four digits." : near] };
    }
    if (!whole && right > 0 && right < 1 && isClose(number, 100 * right, CLOSE)) {
      return { outcome: "close", head, messages: ["this is per cent; write it as a number between 0 and 1."] };
    }
    return { outcome: "wrong", head, messages: hints };
  }

  // Judge a self-test, given the letter that the reader chose for each question.
  function judgeLetters({ item, choices }, letters) {
    const whys = choices.map((why, i) => why[letters[i]] ?? "Left out.");
    const points = whys.filter((why) => why.startsWith("Right. ")).length;
    const all = points === choices.length;
    const head = `${item} ${all ? "right" : "not yet"}, ${points} of ${choices.length}`;
    return { outcome: all ? "right" : "wrong", head, points, whys };
  }

  const sentence = ({ head, messages, shown = [] }, attempt) =>
    [`${head}: ${messages[Math.min(attempt, messages.length - 1)]}`, ...shown].join("\n  ");

  // Return a function that words a verdict, plainer each time a mistake or number is repeated.
  function escalation() {
    const repeats = new Map();
    return (verdict) => {
      const slip = verdict.outcome === "wrong" ? sentence(verdict, 0) : verdict.messages.join("\n");
      const attempt = repeats.get(slip) ?? 0;
      repeats.set(slip, attempt + 1);
      return sentence(verdict, attempt);
    };
  }

  // Return a clause on how far a guess is from the truth.
  function distance(guess, truth) {
    if (guess === null) return "";
    if (guess <= 0) return `; your guess ${written(guess)} is not positive`;
    const factor = Math.max(guess / truth, truth / guess);
    if (factor < 1.05) return ", and you knew";
    const times = factor < TOO_FAR ? inDigits(factor, 2) : "more than a million";
    return `; your guess was ${times} times too ${guess > truth ? "large" : "small"}`;
  }

  // Return the points on the number line of a prediction, and its title.
  function revealed({ stated, points }, guess) {
    const truth = points.find(([name]) => /^(truth|proved at (most|least))$/.test(name))[1];
    const near = guess !== null && truth / TOO_FAR < guess && guess < truth * TOO_FAR;
    const all = [...points, ...(near ? [["your guess", guess]] : [])];
    return { title: stated + distance(guess, truth), points: all.sort((one, other) => one[1] - other[1]) };
  }

  return { readGuess, written, judge, judgeLetters, escalation, revealed };
})();

if (typeof module !== "undefined") module.exports = answers;

if (typeof document !== "undefined") {
  // Texts of fields in Chinese; verdicts and hints are in English.
  const CHINESE = {
    Guess: "猜", "Show me": "直接看", "Guess first, or show me": "先猜，或者直接看", "The answer": "答案",
    "The answer is now open further down.": "答案已在下面打开。",
    "Write a number in the field, or let it be shown.": "请在框里写一个数，或者直接看。",
    Check: "检查", "Your answer to": "你的答案：", answers: "个答案", Question: "问题", Vote: "投票", "Your vote": "你的投票", "Left out.": "没有选。",
    "Done on an earlier visit.": "上次已经做完。", "Your function for": "你的函数，练习", Stop: "停止",
    "in Python with its standard library, and lists for arrays": "用 Python 及其标准库，数组写成列表",
    "Python runs. Its start takes some seconds.": "Python 正在运行，启动需要几秒钟。",
  };
  const here = (words) => (document.querySelector("main [lang=zh] .ask") && CHINESE[words]) || words;

  const make = (tag, values = {}, ...children) => {
    const node = Object.assign(document.createElement(tag), values);
    node.append(...children);
    return node;
  };
  // Send an event about the progress; progress.js stores the progress, if the page has this script.
  function tell({ lesson, item, kind }, done) {
    const detail = { lesson, item, kind: kind === "program" ? "exercise" : kind, state: done ? "done" : "tried" };
    document.dispatchEvent(new CustomEvent("dplearn:progress", { detail }));
  }

  // Return a line with a mark for each number, and their names in rows below.
  function numberLine(points) {
    const values = points.map(([, value]) => value);
    const [least, most] = [Math.min(...values), Math.max(...values)];
    const logarithmic = most > 20 * least;
    const margin = logarithmic ? (most / least) ** 0.08 : 1;
    const [low, high] = logarithmic ? [least / margin, most * margin] : [0, 1.1 * most];
    const share = (value) => logarithmic ? Math.log(value / low) / Math.log(high / low) : value / high;
    const at = (value) => `${(100 * share(value)).toFixed(2)}%`;
    // Names extend to the middle, and outer names are lower, so that no line crosses a name.
    const inner = [...points].sort((one, other) => Math.abs(share(one[1]) - 0.5) - Math.abs(share(other[1]) - 0.5));
    const rows = inner.map(([name, value], place) => {
      const label = make("span", {}, make("b", { textContent: answers.written(value) }), ` ${name}`);
      const row = make("div", { className: /^(truth|proved)/.test(name) ? "row truth" : name === "your guess" ? "row guess" : "row" }, label);
      row.style.setProperty("--at", at(value));
      row.style.setProperty("--row", place);
      if (share(value) > 0.5) row.classList.add("left");
      return row;
    });
    const ariaLabel = points.map(([name, value]) => `${name} ${answers.written(value)}`).join(", ");
    return make("div", { className: "number-line", role: "img", ariaLabel }, make("div", { className: "axis" }), ...rows);
  }

  // Add a field with a label and a button to a form, and return the field.
  function field(row, label, button) {
    const input = make("input", { type: "text", autocomplete: "off", spellcheck: false, enterKeyHint: "done" });
    row.append(make("label", {}, `${label[0].toUpperCase()}${label.slice(1)} `, input), make("button", { textContent: button }));
    return input;
  }

  const guesses = new Map(); // guesses by name; null if the result was shown without a guess
  const predictions = new Map(); // data of predictions by name
  const openings = []; // functions to call after each guess

  // Each function in `kinds` fills the form of a question; it returns a function that writes the reply and returns the verdict.
  function prediction(ask, row, reply) {
    const input = field(row, ask.item, here("Guess"));
    const showMe = make("button", { type: "button", className: "plain", textContent: here("Show me") });
    row.append(showMe);
    const show = (guess) => {
      guesses.set(ask.item, guess);
      if (ask.points) {
        const { title, points } = answers.revealed(ask, guess);
        reply.replaceChildren(make("p", { textContent: `${title}.` }), numberLine(points));
      } else {
        const note = guess === null ? "" : `Your guess ${answers.written(guess)} is noted. `;
        reply.textContent = `${note}${here("The answer is now open further down.")}`;
      }
      openings.forEach((open) => open());
    };
    showMe.addEventListener("click", () => {
      show(guesses.get(ask.item) ?? null);
      if (guesses.get(ask.item) === null) tell(ask, false);
    });
    return () => {
      const text = /per cent/.test(ask.item) ? input.value.replace(/(%|per ?cent)\s*$/i, "") : input.value;
      const { number, problem } = answers.readGuess(text);
      if (!text.trim()) reply.textContent = here("Write a number in the field, or let it be shown.");
      else if (problem) reply.textContent = problem[0].toUpperCase() + problem.slice(1);
      else {
        show(number);
        tell(ask, true);
      }
    };
  }

  // Write the results of predictions into a closed section; open it when all are guessed.
  function sealed(place) {
    const names = JSON.parse(place.dataset.names).filter((name) => predictions.has(name));
    const fill = () => {
      for (const line of place.querySelectorAll("[data-line]")) {
        const { title, points } = answers.revealed(predictions.get(line.dataset.line), guesses.get(line.dataset.line) ?? null);
        line.replaceChildren(make("p", { textContent: `${title}.` }), numberLine(points));
      }
      const all = guesses.size && names.every((name) => guesses.has(name));
      if (all) place.open = true;
      const said = names.filter((name) => !predictions.get(name).points && typeof guesses.get(name) === "number");
      place.querySelector("summary").textContent = all
        ? said.map((name) => `Your guess for ${name}: ${answers.written(guesses.get(name))}.`).join(" ") || here("The answer")
        : here("Guess first, or show me");
    };
    openings.push(fill);
    fill();
  }

  function exercise(ask, row, reply) {
    const input = field(row, `${here("Your answer to")} ${ask.item}`, here("Check"));
    const say = answers.escalation();
    return () => {
      const verdict = answers.judge(ask, input.value);
      reply.textContent = say(verdict);
      return verdict;
    };
  }

  // Replace an exercise by a field for a function, which Pyodide runs.
  function program(ask, row, reply) {
    const area = make("textarea", { value: ask.code, spellcheck: false, rows: ask.code.split("\n").length, autocapitalize: "off" });
    const [run, stop] = [make("button", { textContent: here("Check") }), make("button", { type: "button", className: "plain", textContent: here("Stop"), hidden: true })];
    const how = here("in Python with its standard library, and lists for arrays");
    const label = make("label", {}, `${here("Your function for")} ${ask.item}, ${how} `, area);
    row.append(label, run, stop);
    [row.className, reply.className] = ["code", "reply lines"];
    const say = answers.escalation();
    area.addEventListener("keydown", (event) => {
      if (event.key !== "Enter") return;
      event.preventDefault();
      if (event.ctrlKey || event.metaKey) return row.requestSubmit();
      // Indent a new line like the previous line, and by four more blanks after a colon.
      const line = area.value.slice(0, area.selectionStart).split("\n").at(-1);
      const further = line.trimEnd().endsWith(":") ? "    " : "";
      area.setRangeText(`\n${/^ */.exec(line)[0]}${further}`, area.selectionStart, area.selectionEnd, "end");
    });
    stop.addEventListener("click", () => kernel.stop());
    return async () => {
      if (run.disabled) return;
      [run.disabled, stop.hidden, reply.textContent] = [true, false, here("Python runs. Its start takes some seconds.")];
      const verdict = await kernel.verdict(area.value, ask.name, ask.program, ask.item);
      [run.disabled, stop.hidden] = [false, true];
      if (verdict.outcome === "open") verdict.messages = [`write the body of ${ask.name} in the field.`];
      reply.textContent = say(verdict);
      if (ask.draws && verdict.outcome === "right") {
        reply.append(`\nOur ${ask.name} draws pictures below; yours, right in these cases, draws the same up to chance.`);
      }
      return verdict;
    };
  }

  // Turn the sections before a self-test, one for each possible answer, into questions with radio buttons.
  function selfTest(ask, row, reply) {
    const every = [...document.querySelectorAll("main details")].filter((one) => /^[a-e]\. /.test(one.querySelector("summary")?.textContent ?? ""));
    const before = every.filter((one) => one.compareDocumentPosition(row) & Node.DOCUMENT_POSITION_FOLLOWING);
    const questions = ask.choices.map((choices) => before.splice(0, Object.keys(choices).length));
    const vote = ask.choices.length === 1;
    const fields = questions.map((options, number) => {
      const group = make("fieldset", {}, make("legend", { textContent: vote ? here("Your vote") : `${here("Question")} ${number + 1}` }));
      options[0].before(group);
      const radios = options.map((option, i) => {
        const radio = make("input", { type: "radio", name: `${ask.item}-${number}`, value: "abcde"[i] });
        const summary = option.querySelector("summary");
        const label = make("label", {}, radio, make("span", {}, ...summary.childNodes));
        summary.remove();
        const why = make("div", { className: "why", hidden: true }, ...option.childNodes);
        option.remove();
        group.append(label, why);
        return { radio, why };
      });
      const note = make("p", { className: "why", hidden: true, textContent: here("Left out.") });
      group.append(note);
      return { group, radios, note };
    });
    row.append(make("button", { textContent: vote ? here("Vote") : `${here("Check")} ${ask.choices.length} ${here("answers")}` }));
    return () => {
      const chosen = fields.map(({ radios }) => radios.find(({ radio }) => radio.checked)?.radio.value ?? "-");
      if (chosen.every((letter) => letter === "-")) {
        reply.textContent = `${ask.item} not answered yet: choose an answer${vote ? "" : " to each question"}.`;
        return;
      }
      const verdict = answers.judgeLetters(ask, chosen);
      fields.forEach(({ group, radios, note }, number) => {
        radios.forEach(({ radio, why }) => (why.hidden = !radio.checked));
        note.hidden = chosen[number] !== "-";
        group.dataset.outcome = verdict.whys[number].startsWith("Right. ") ? "right" : "wrong";
      });
      reply.textContent = `${verdict.head}: ${vote ? "the line at your answer says" : "the lines at your answers say"} more.`;
      return verdict;
    };
  }

  document.addEventListener("DOMContentLoaded", () => {
    const kinds = { prediction, exercise, program, selftest: selfTest };
    const asks = [...document.querySelectorAll("[data-ask]")].map((place) => [place, JSON.parse(place.dataset.ask)]);
    asks.filter(([, ask]) => ask.kind === "prediction").forEach(([, ask]) => predictions.set(ask.item, ask));
    document.querySelectorAll(".sealed").forEach(sealed);
    for (const [place, ask] of asks) {
      const [row, reply] = [make("form", { noValidate: true }), make("div", { className: "reply", role: "status" })];
      place.replaceChildren(row, reply);
      const answer = kinds[ask.kind](ask, row, reply);
      row.addEventListener("submit", async (event) => {
        event.preventDefault();
        const verdict = await answer();
        if (!verdict) return;
        place.dataset.outcome = verdict.outcome;
        if (verdict.outcome !== "open") tell(ask, verdict.outcome === "right");
      });
      if (window.dplearnProgress?.get(ask.lesson, ask.item) !== "done") continue;
      place.dataset.outcome = "right";
      reply.textContent = here("Done on an earlier visit.");
    }
  });
}
