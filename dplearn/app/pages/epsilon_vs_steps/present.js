// A presentation of the picture: scenes in turn by the arrow keys, a guess drawn by hand before the
// truth, a code to point a camera at. The server hears of nothing but its beginning and its end.
let show = null; // what the server said last, and where it is shown
let rank = 0; // of the scene in view
let guess = []; // places [T, epsilon] that a hand has drawn
const style = document.createElement('style');

const figure = () => document.querySelector('.st-key-picture .js-plotly-plot');
const scene = () => show.data.scenes[rank];
const axes = () => figure()._fullLayout;

/** Lines with **bold** parts and $e^ε$ as elements. */
function write(node, text) {
  node.replaceChildren(...text.split(/(\*\*.*?\*\*|\$.*?\$)/).map((words) => {
    const [, kind, inner] = words.match(/^(\*\*|\$)(.*)\1$/) ?? [null, '', words];
    const part = document.createElement(kind === '**' ? 'b' : 'span');
    part.textContent = inner;
    if (kind === '$') part.innerHTML = 'e<sup>ε</sup>';
    return part;
  }));
}

/** The selectors of what is not shown yet: curves, what stands on them, their names. */
function behind() {
  const { scenes, labels } = show.data;
  const all = scenes.at(-1).shows;
  const left = all.filter((name) => !scene().shows.includes(name));
  const named = new Map(Object.entries(labels).map(([name, label]) => [label, name]));
  const hides = (name) => left.includes(name);
  const traces = figure()._fullData.filter((trace) => {
    const name = named.get(trace.name) ?? (trace.name === 'certified' ? scenes[2].shows[0] : null);
    return name ? hides(name) : left.length;
  });
  const notes = figure().layout.annotations.map(({ name }, i) => [name?.split(' ')[0], i])
    .filter(([name]) => hides(name) || (name === 'published' && left.length));
  return [
    ...traces.map(({ uid }) => `.st-key-picture .trace${CSS.escape(uid)}`),
    ...notes.map(([, i]) => `.st-key-picture .annotation[data-index="${i}"]`),
  ];
}

/** Where the guess lies now that the axes are as they are. */
function redraw() {
  const { xaxis, yaxis } = axes();
  const group = figure().querySelector('.scatterlayer').parentNode;
  let path = group.querySelector('.dplearn-guess');
  if (!path) {
    path = document.createElementNS('http://www.w3.org/2000/svg', 'path');
    path.classList.add('dplearn-guess');
    group.append(path);
  }
  const places = guess.map(([t, e]) => `${xaxis.d2p(t)},${yaxis.d2p(e)}`);
  path.setAttribute('d', places.length > 1 ? `M${places.join('L')}` : 'M0,0');
}

/** Epsilon of the guess at the chosen number of steps, between neighbours in the picture. */
function guessed() {
  const { xaxis, yaxis } = axes();
  const k = guess.findIndex(([t]) => t >= show.data.here);
  if (k < 1) return null;
  const [[a, low], [b, high]] = [guess[k - 1], guess[k]];
  const part = (xaxis.d2p(show.data.here) - xaxis.d2p(a)) / (xaxis.d2p(b) - xaxis.d2p(a));
  return yaxis.p2d(yaxis.d2p(low) + part * (yaxis.d2p(high) - yaxis.d2p(low)));
}

/** The scene in view. */
function act() {
  if (!show?.data.on || !figure()?._fullLayout?.xaxis) return;
  const { root, data } = show;
  const [words, code] = [root.querySelector('p'), root.querySelector('figure')];
  const drawn = scene().name === 'truth' ? guessed() : null;
  const more = drawn ? ` ${data.drew.replace('{guess}', Number(drawn.toPrecision(2)))}` : '';
  write(words, scene().words + more);
  code.hidden = scene().name !== 'code';
  words.hidden = !scene().words;
  const hidden = behind();
  if (!['attack', 'code'].includes(scene().name)) hidden.push('.st-key-live');
  const label = data.labels[scene().shows.at(-1)];
  const { uid } = figure()._fullData.find((trace) => trace.name === label) ?? { uid: 'none' };
  const fresh = `.st-key-picture .trace${CSS.escape(uid)}`;
  style.textContent = `${hidden.join(', ')} { display: none !important; }
    ${fresh} { animation: dplearn-drawn 1.2s ease-out; }`;
  redraw();
}

/** A hand draws from left to right; a new stroke is a new guess. */
function hand(event) {
  const ground = event.target.closest?.('.st-key-picture .nsewdrag');
  if (!show?.data.on || !ground) return;
  // Plotly would zoom, and the browser mark words.
  event.stopPropagation();
  event.preventDefault();
  if (!['guess', 'what'].includes(scene().name) || !event.buttons) return;
  if (event.type === 'pointerdown') guess = [];
  const box = ground.getBoundingClientRect();
  const { xaxis, yaxis } = axes();
  const t = xaxis.p2d(((event.clientX - box.left) / box.width) * xaxis._length);
  const e = yaxis.p2d(((event.clientY - box.top) / box.height) * yaxis._length);
  if (!guess.length || t > guess.at(-1)[0]) guess.push([t, e]);
  redraw();
}

function press(event) {
  const [target] = event.composedPath();
  if (!show || event.ctrlKey || event.metaKey || event.altKey) return;
  if (target.matches?.('textarea, [contenteditable], input:not([type=range])')) return;
  if (event.key.toLowerCase() === 'p') {
    rank = 0;
    guess = [];
    show.pressed();
    return;
  }
  const on = { ArrowRight: 1, PageDown: 1, ArrowLeft: -1, PageUp: -1 }[event.key];
  if (!on || !show.data.on || target.matches?.('input')) return;
  event.preventDefault();
  rank = Math.min(Math.max(rank + on, 0), show.data.scenes.length - 1);
  act();
}

addEventListener('keydown', press);
for (const name of ['pointerdown', 'pointermove', 'mousedown']) {
  addEventListener(name, hand, { capture: true });
}

export default function ({ data: [data], parentElement, setTriggerValue }) {
  const mine = { data, root: parentElement, pressed: () => setTriggerValue('pressed', true) };
  show = mine;
  parentElement.querySelectorAll('p, figure, small').forEach((part) => { part.hidden = !data.on; });
  document.head.append(style);
  style.textContent = '';
  // Each time that Plotly has drawn, also for the first time.
  const drawn = setInterval(() => {
    if (!data.on || !figure()?.on || figure().dplearnPresents) return;
    figure().dplearnPresents = true;
    figure().on('plotly_afterplot', act);
    act();
  }, 100);
  if (data.on) {
    rank = Math.min(rank, data.scenes.length - 1);
    parentElement.querySelector('small').textContent = data.keys;
    parentElement.querySelector('img').src = data.code;
    parentElement.querySelector('figcaption').textContent = data.link;
    act();
  } else {
    document.querySelector('.dplearn-guess')?.remove();
  }
  return () => {
    clearInterval(drawn);
    if (show !== mine) return;
    show = null;
    style.textContent = '';
  };
}
