// The menu: on a phone it opens below its button, so that no entry is out of sight.

/** @param {HTMLElement} button @param {HTMLElement} menu */
export function menus(button, menu) {
  const open = (/** @type {boolean} */ shown) => {
    menu.classList.toggle("open", shown);
    button.setAttribute("aria-expanded", String(shown));
  };
  button.addEventListener("click", () => open(!menu.classList.contains("open")));
  addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || !menu.classList.contains("open")) return;
    open(false);
    button.focus();
  });
}
