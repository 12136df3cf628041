// Streamlit's own slider reports only when it is let go. This one is a plain range input: it
// takes arrow keys, announces its value, and asks for the next run only when the last is done.
const sliders = new WeakMap();

const pageIsIdle = () => {
  const app = document.querySelector('[data-test-script-state]');
  return !app || app.dataset.testScriptState === 'notRunning';
};

export default function ({ data, parentElement, setStateValue }) {
  const input = parentElement.querySelector('input');
  const me = sliders.get(input) ?? { held: false, sent: -1, since: 0 };
  sliders.set(input, me);

  const send = (final) => {
    me.sent = Number(input.value);
    me.since = performance.now();
    setStateValue('moved', { index: me.sent, final });
  };
  const name = () => input.setAttribute('aria-valuetext', data.texts[Number(input.value)]);
  const follow = () => {
    if (!me.held) return;
    const waited = performance.now() - me.since;
    const due = (waited > 60 && pageIsIdle()) || waited > 1500;
    if (due && Number(input.value) !== me.sent) send(false);
    requestAnimationFrame(follow);
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
    if (!me.held) { me.held = true; follow(); }
  };
  input.onchange = () => { me.held = false; send(true); };
}
