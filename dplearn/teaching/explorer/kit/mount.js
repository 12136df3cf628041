// Run the script of a page once per element; later calls pass new data from the server to it.
const address = new URL("FILE", document.baseURI);
const mounted = new WeakMap();
export default function ({ data: [data], parentElement, setTriggerValue }) {
  const state = mounted.get(parentElement) ?? {};
  Object.assign(state, { data, tell: setTriggerValue });
  if (mounted.has(parentElement)) return void state.page?.update?.(data);
  mounted.set(parentElement, state);
  const root = document.createElement("div");
  parentElement.append(root);
  import(address).then((all) => {
    if (state.ended) return;
    state.page = all.PAGE.mount(root, {
      engine: all.dplearn, source: String(all.dplearnModule), ...state.data,
      send: (question) => state.tell("asked", question),
    });
    state.page.update?.(state.data);
  });
  return () => {
    state.ended = true;
    mounted.delete(parentElement);
    state.page?.destroy();
    root.remove();
  };
}
