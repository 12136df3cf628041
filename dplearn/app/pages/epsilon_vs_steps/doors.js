// Doors of the first page: each leads the eye, and the keyboard, to what it names.
const CONTROLS = { run: 'noise_multiplier', budget: 'budget' };
const query = (selector) => document.querySelector(selector);

/** A control comes into view, with the keyboard in its box. */
function lead(key) {
  const field = query(`.st-key-field_${key}`);
  const box = field?.querySelector('input[type=text]');
  field?.scrollIntoView({ block: 'center' });
  box?.focus();
  box?.select();
}

function enter(event, name) {
  // The menu changes pages without loading everything again; on a phone it may be folded away.
  const menu = query(`header a[href$="${name}"]`);
  if (!CONTROLS[name] && !menu) return;
  event.preventDefault();
  if (menu) return void menu.click();
  const closed = name === 'run' ? query('[data-testid="stExpandSidebarButton"]') : null;
  if (!closed) return void lead(CONTROLS[name]);
  // On a phone the settings come from below: the picture above them is to be seen.
  closed.click();
  query('.st-key-picture')?.scrollIntoView({ block: 'start' });
}

export default function ({ data, parentElement }) {
  for (const [name, words] of Object.entries(data)) {
    const door = parentElement.querySelector(`#${name}`);
    door.textContent = words;
    door.onclick = (event) => enter(event, name);
  }
}
