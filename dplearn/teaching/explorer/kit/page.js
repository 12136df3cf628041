// What Streamlit's page runs before its own scripts.

// Streamlit may write what the next page shows before that page's path, and would leave a stop
// that shows it on the page before. Only then does a path change and nothing behind it.
const push = history.pushState;
history.pushState = function (state, title, address) {
  const { pathname, search } = new URL(address, location.href);
  const late = search && search === location.search && pathname !== location.pathname;
  (late ? history.replaceState : push).call(this, state, title, address);
};
// Pages are one level deep, below whatever a proxy has put before them. Streamlit's own page looks
// for the server below the address of each page first, in vain.
window.__streamlit = { BACKEND_BASE_URL: new URL(".", location).href };
// Streamlit says what a question mark helps with beside a field, and beside words only "Help".
new MutationObserver(() => {
  for (const button of document.querySelectorAll('button[aria-label="Help"]')) {
    const words = button.closest('[data-testid="stMarkdownContainer"]')?.textContent.trim();
    if (words) button.setAttribute("aria-label", `Help for ${words.slice(0, 60)}`);
  }
}).observe(document, { childList: true, subtree: true });
