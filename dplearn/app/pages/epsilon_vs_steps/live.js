// The pictures follow the hand. Python describes the figures; while a slider is held down this
// moves the lines, marks and words that Plotly has drawn. Axes stand still, or jump by a power of
// ten where a curve would leave them. The release asks the server, whose figures then take their
// place. `dplearn` is the engine.
const MOVING = 'dplearn-moving';
const GAP = 22; // between two words of the column, as in Python
let page = null; // what the server said last
let asked = 0; // the number of the last drawing that the server was told of
let attack = null; // where the attacker's rate is told
const ALARMS = 0.01; // false ones, a share

const spaced = (whole) => String(whole).replace(/\B(?=(\d{3})+$)/g, '\u202f');
const figures = () => ['.st-key-picture', '.st-key-picture_looseness']
  .map((at) => document.querySelector(`${at} .js-plotly-plot`)).filter((f) => f?._fullLayout?.xaxis);
const each = (value) => Object.fromEntries(page.accountants.map((name) => [name, value(name)]));
const clamp = (value, low, high) => Math.min(Math.max(value, low), high);

/** The run, and where one looks, with one slider elsewhere; on its way every second step will do. */
function view(key, value, final) {
  const run = { ...page.run };
  if (key in page.parameters) run[page.parameters[key]] = value;
  const perEpoch = key === 'epochs' ? value : page.epochs;
  const steps = perEpoch ? Math.ceil(perEpoch / run.sampleRate - 1e-9) : page.largest;
  const largest = clamp(key === 'steps' ? value : steps, 1, page.limit);
  const here = Math.min(key === 'here' ? value : page.here, largest);
  const grid = page.steps.filter((t, i) => t < largest && (final || i % 2 === 0));
  const budget = key === 'budget' ? value : page.budget;
  const same = Object.keys(run).every((name) => run[name] === page.run[name]);
  const points = [...new Set([...grid, here, largest])].sort((a, b) => a - b);
  return { run, same, steps: points, here, budget };
}

/** A number in so many digits, never smaller than it is, as `text.bound` writes it. */
function bound(value, digits) {
  if (!Number.isFinite(value)) return '∞';
  let shown = Number(value.toPrecision(digits));
  const unit = 10 ** (Math.floor(Math.log10(value)) - digits + 1);
  if (shown < value * (1 - 1e-12)) shown = Math.ceil(value / unit) * unit;
  shown = Number(shown.toPrecision(digits));
  return shown < 1e9 && shown >= 10 ** digits ? spaced(Math.round(shown)) : String(shown);
}

/** Epsilon in words; an approximation is rounded to the nearest. */
const epsilon = (value, kind) =>
  kind === 'approximate' ? `≈\u202f${Number(value.toPrecision(3))}` : bound(value, 3);

/** A ratio in words, as `excess.times` writes it. */
function times(ratio) {
  if (ratio === null) return '–';
  if (Math.abs(ratio - 1) < 5e-4) return '1 ×';
  return `${ratio < 1 ? Number(ratio.toPrecision(3)) : bound(ratio, ratio < 2 ? 4 : 3)} ×`;
}

/** Positions closest to increasing wishes, at least a gap apart: `labels.spread` in Python. */
function spread(wishes, lower, upper) {
  const gap = Math.min(GAP, (upper - lower) / Math.max(wishes.length - 1, 1));
  const blocks = [];
  wishes.forEach((wish, i) => {
    let block = { sum: wish - i * gap, size: 1 };
    while (blocks.length && blocks.at(-1).sum / blocks.at(-1).size >= block.sum / block.size) {
      const before = blocks.pop();
      block = { sum: before.sum + block.sum, size: before.size + block.size };
    }
    blocks.push(block);
  });
  const highest = upper - gap * (wishes.length - 1);
  const flat = blocks.flatMap((b) => Array(b.size).fill(clamp(b.sum / b.size, lower, highest)));
  return flat.map((place, i) => place + i * gap);
}

/** Where an increasing curve y over x meets a value of x, between neighbours on two logarithmic
 * scales; NaN if nowhere. */
function meeting(x, y, value) {
  const k = x.findIndex((place) => place >= value);
  if (x[k] === value) return y[k];
  return y[k - 1] * (y[k] / y[k - 1]) ** (Math.log(value / x[k - 1]) / Math.log(x[k] / x[k - 1]));
}

/** Whether a pixel is one of an axis; a curve's end is, up to rounding. */
const onAxis = (axis, pixel) => pixel >= -1 && pixel <= axis._length + 1;

/** The power by which an axis must be multiplied so that a value lies on it, within two shares. */
function factor(axis, value, low, high) {
  const base = axis.type === 'log' ? 10 : 2;
  const share = (f) => axis.d2p(value / f) / axis._length;
  const from = axis._id[0] === 'x' ? share : (f) => 1 - share(f);
  let power = 0;
  if (!(value > 0 && value < Infinity)) return 1;
  while (from(base ** power) > high && power < 20) power += 1;
  while (from(base ** power) < low && power > -20) power -= 1;
  return base ** power;
}

/** Multiply the numbers at the ticks of an axis. */
function rescale(figure, axis, by) {
  figure.querySelectorAll(`.${axis._id}tick text`).forEach((label) => {
    label.dataset.own ??= label.innerHTML;
    const { x } = label.__data__;
    const value = Number(((axis.type === 'log' ? 10 ** x : x) * by).toPrecision(6));
    if (by === 1) label.innerHTML = label.dataset.own;
    else label.textContent = value >= 1000 && value < 1e9 ? spaced(value) : value;
  });
}

/** Where a figure shows a run: axes at a power of their own, pixels of values. */
function scaled(figure, now, lines) {
  const { xaxis, yaxis } = figure._fullLayout;
  const wide = factor(xaxis, now.steps.at(-1), -1, 1.001);
  const high = factor(yaxis, lines[page.reference]?.at(-1), yaxis.type === 'log' ? 0.1 : 0.2, 1);
  rescale(figure, xaxis, wide);
  rescale(figure, yaxis, high);
  const x = (t) => xaxis.d2p(t / wide);
  const y = (v) => (v > 0 || yaxis.type === 'linear' ? yaxis.d2p(v / high) : 2 * yaxis._length);
  const put = (node, t, value) => {
    const inside = onAxis(xaxis, x(t)) && onAxis(yaxis, y(value));
    node.style.visibility = inside ? '' : 'hidden';
    if (inside) node.setAttribute('transform', `translate(${x(t)},${y(value)})`);
  };
  const path = (points) => points.map(([t, v], i) => `${i ? 'L' : 'M'}${x(t)},${y(v)}`).join('');
  // A figure printed somewhere is about the run that the server has drawn.
  const printed = now.same && wide === 1 && high === 1 ? 1 : 0;
  const group = (rank) => figure.querySelector(`.annotation[data-index="${rank}"]`);
  return { x, y, put, path, printed, group, top: yaxis._offset, height: yaxis._length };
}

/** Move the traces of a figure; `lines` are values by accountant. */
function traces(figure, at, now, lines) {
  const names = Object.keys(lines);
  const named = (label) => names.find((name) => page.labels[name] === label);
  figure.data.forEach((trace, rank) => {
    const node = figure.querySelector(`.scatterlayer .trace${figure._fullData[rank].uid}`);
    if (!node) return; // It has no points.
    const points = (place) => node.querySelectorAll('.point')
      .forEach((point) => at.put(point, ...place(point.__data__.i)));
    const name = named(trace.name);
    if (name) {
      const line = now.steps.map((t, i) => [t, lines[name][i]]);
      const finite = line.filter(([, value]) => Number.isFinite(value));
      node.querySelector('.js-line')?.setAttribute('d', at.path(finite) || 'M0,0');
      points((i) => [trace.x[i], meeting(now.steps, lines[name], trace.x[i])]);
    } else if (trace.name.endsWith(', pinned')) {
      const still = trace.x.map((t, i) => [t, trace.y[i]]).filter(([, v]) => v !== null);
      node.querySelector('.js-line')?.setAttribute('d', at.path(still));
    } else if (trace.name === 'certified') {
      const band = now.band.length ? `${at.path(now.band)}Z` : 'M0,0';
      node.querySelectorAll('.js-line, .js-fill').forEach((p) => p.setAttribute('d', band));
    } else if (trace.name === 'here') {
      points((i) => [now.here, lines[names[i]]?.[now.place]]);
    } else if (trace.name === 'within the budget') {
      const most = (values = []) => Math.floor(meeting(values, now.steps, now.budget) + 1e-6);
      points((i) => [most(lines[named(trace.text[i])]), now.budget]);
    } else if (trace.name === 'published') {
      node.style.opacity = at.printed;
    }
  });
}

/** Move the lines at the chosen number of steps and at the budget, and notes in the picture. */
function lines(figure, at, now) {
  const { xaxis, yaxis } = figure._fullLayout;
  const [upright, level] = figure.layout.shapes;
  const line = (rank, move) =>
    figure.querySelector(`.shapelayer path[data-index="${rank}"]`)?.setAttribute('transform', move);
  line(0, `translate(${at.x(now.here) - xaxis.d2p(upright.x0)},0)`);
  const rise = `translate(0,${at.y(now.budget) - yaxis.d2p(level.y0)})`;
  if (level.name === 'budget') line(1, rise);
  const head = at.group(0).querySelector('text');
  head.textContent = head.textContent.replace(/T = .*/, `T = ${spaced(now.here)}`);
  figure.layout.annotations.forEach(({ name }, rank) => {
    if (name === 'published') at.group(rank).style.opacity = at.printed;
    if (name !== 'budget') return;
    at.group(rank).setAttribute('transform', rise);
    at.group(rank).querySelector('text').textContent = `${page.budgetName} = ${now.budget}`;
  });
}

/** The words beside the ends of the curves, and the lines that lead to them. */
function column(figure, at, ends, words) {
  const rows = figure.layout.annotations.map(({ name }, rank) => {
    const [accountant, note] = (name ?? '').split(' ');
    const end = ends[accountant];
    const pixel = Number.isFinite(end) ? at.height - at.y(end) : Infinity;
    return { node: at.group(rank), accountant, note, pixel, wish: clamp(pixel, 0, at.height) };
  }).filter(({ accountant }) => accountant in ends);
  rows.sort((a, b) => a.wish - b.wish || a.pixel - b.pixel || Boolean(b.note) - Boolean(a.note));
  const placed = spread(rows.map((row) => row.wish), 4, at.height - 8);
  rows.forEach(({ node, accountant, note, pixel, wish }, i) => {
    const inner = node.querySelector('.cursor-pointer');
    const half = Number(inner.querySelector('.bg').getAttribute('height')) / 2 + 0.5;
    const y = at.top + at.height - placed[i] - (note ? 4 : 0);
    const left = inner.getAttribute('transform').match(/\(([^,]+)/)[1];
    inner.setAttribute('transform', `translate(${left},${y - half})`);
    // A note tells how sharp the server's answer is.
    if (note) node.style.opacity = 0;
    if (note) return;
    const [glyph, value] = node.querySelectorAll('tspan');
    const gone = pixel > at.height ? '↑ ' : pixel < 0 ? '↓ ' : '';
    glyph.textContent = gone + glyph.textContent.at(-1);
    value.textContent = words[accountant];
    const leader = node.querySelector('.annotation-arrow-g path');
    const [from, , to] = leader.getAttribute('d').match(/[-\d.e]+/g);
    leader.setAttribute('d', `M${from},${y}L${to},${at.top + at.height - wish}`);
    leader.parentNode.style.opacity = gone ? 0 : 1;
    leader.style.stroke = glyph.style.fill;
    leader.style.strokeDasharray = 'none';
  });
}

/** Move a figure: values by accountant, and the words of those at the chosen number of steps. */
function move(figure, now, values, words) {
  const at = scaled(figure, now, values);
  traces(figure, at, now, values);
  lines(figure, at, now);
  column(figure, at, each((name) => values[name].at(-1)), each(words));
}

/** Both pictures of what the engine returned. */
function draw(first, second, now, found) {
  const { upper, lower } = found[page.reference];
  const sure = now.steps.map((t, i) => i)
    .filter((i) => lower?.[i] > 0 && Number.isFinite(upper[i]));
  now.place = now.steps.indexOf(now.here);
  now.band = [
    ...sure.map((i) => [now.steps[i], upper[i]]),
    ...sure.reverse().map((i) => [now.steps[i], lower[i]]),
  ];
  const loose = dplearn.looseness(found, page.reference);
  const values = each((name) => found[name].upper);
  const ratios = each((name) => loose[name]);
  move(first, now, values, (name) => epsilon(values[name][now.place], found[name].kind));
  move(second, now, ratios, (name) => times(ratios[name][now.place]));
}

/** What an attacker finds after so many steps of a run; nothing where nothing is proved. */
function tell(run, here) {
  const share = dplearn.truePositiveRate(run, here, ALARMS)?.upper;
  const said = { share: bound(100 * share, 3), odds: bound(share / ALARMS, 3) };
  const sentence = page.attack.replace(/\{(\w+)\}/g, (_, name) => said[name]);
  attack.replaceChildren(...sentence.split('**').map((words, i) => {
    const part = document.createElement(i % 2 ? 'b' : 'span');
    part.textContent = words;
    return part;
  }));
  attack.hidden = share === undefined;
}

/** The server has answered: nodes that Plotly keeps get their own words back. */
function settle() {
  document.body.classList.remove(MOVING);
  for (const figure of figures()) {
    const { xaxis, yaxis } = figure._fullLayout;
    rescale(figure, xaxis, 1);
    rescale(figure, yaxis, 1);
    figure.querySelectorAll('.annotation').forEach((note) => { note.style.opacity = 1; });
  }
}

/** A slider stands elsewhere: draw, or leave it to the server. */
function slide({ detail }) {
  if (!page || !page.keys.includes(detail.key)) return;
  const began = performance.now();
  const now = view(detail.key, detail.value, detail.final);
  const names = [...new Set([page.reference, ...page.accountants])];
  let found;
  try {
    found = dplearn.curves(now.run, now.steps, { accountants: names, draft: !detail.final });
  } catch {
    return; // An accountant that came later, say.
  }
  const [first, second] = figures();
  const proved = (name) => [now.here, now.steps.at(-1)]
    .every((t) => found[name]?.upper[now.steps.indexOf(t)] != null);
  if (!second || !names.every(proved)) return;
  draw(first, second, now, found);
  tell(now.run, now.here);
  document.body.classList.add(MOVING);
  asked += 1;
  const { steps } = now;
  detail.drawn = { number: asked, steps, curves: found };
  performance.measure('dplearn drag', { start: began });
}

window.addEventListener('dplearn:slide', slide);

export default function ({ data: [data], parentElement }) {
  page = data;
  attack = parentElement.querySelector('p');
  tell(page.run, page.here);
  if (data.answered === asked) settle();
  return () => { page = null; settle(); };
}
