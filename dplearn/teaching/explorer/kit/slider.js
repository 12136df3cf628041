// Streamlit's own slider reports only when it is let go. This one is a plain range input: it
// takes arrow keys, announces its value, and shows it in the box beside it at once.
// The server is asked for the next run when the last is done.
const sliders = new WeakMap();

const pageIsIdle = () => {
  const app = document.querySelector('[data-test-script-state]');
  return !app || app.dataset.testScriptState === 'notRunning';
};

export default function ({ data: [data], parentElement, setStateValue }) {
  const input = parentElement.querySelector('input');
  const me = sliders.get(input) ?? { held: false, sent: -1, since: 0 };
  sliders.set(input, me);

  const send = (final) => {
    me.sent = Number(input.value);
    me.since = performance.now();
    setStateValue('moved', { index: me.sent, final });
  };
  const text = () => data.texts[Number(input.value)];
  const name = () => input.setAttribute('aria-valuetext', text());
  const follow = () => {
    if (!me.held) return;
    const waited = performance.now() - me.since;
    const due = (waited > 60 && pageIsIdle()) || waited > 1500;
    if (due && Number(input.value) !== me.sent) send(false);
    requestAnimationFrame(follow);
  };
  const release = () => { me.held = false; send(true); };
  const later = () => {
    clearTimeout(me.pause);
    if (me.held) me.pause = setTimeout(release);
  };

  input.max = data.texts.length - 1;
  input.setAttribute('aria-label', data.label);
  if (!me.held) {
    input.value = data.index;
    me.sent = data.index;
  }
  name();
  input.oninput = () => {
    name();
    const box = document.querySelector(`.st-key-box_${data.key} input`);
    if (box) box.value = text();
    if (!me.held) { me.held = true; follow(); }
  };
  // Whoever comes back to where the movement began sees no change, but the hand is up.
  input.onchange = input.onpointerup = input.onpointercancel = later;
}
