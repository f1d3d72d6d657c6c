// The menu: groups open below their word; on a phone all of it opens below its button, so that no entry is out of sight.

/** @param {HTMLElement} button @param {HTMLElement} menu */
export function menus(button, menu) {
  const groups = [...menu.querySelectorAll("details")];
  const open = (/** @type {boolean} */ shown) => {
    menu.classList.toggle("open", shown);
    button.setAttribute("aria-expanded", String(shown));
    for (const group of groups) group.open = shown;
  };
  button.addEventListener("click", () => open(!menu.classList.contains("open")));
  addEventListener("click", ({ target }) => {
    if (menu.classList.contains("open")) return;
    for (const group of groups) if (!group.contains(/** @type {Node} */ (target))) group.open = false;
  });
  addEventListener("keydown", (event) => {
    if (event.key !== "Escape") return;
    const group = groups.find((one) => one.open && !menu.classList.contains("open"));
    if (group) {
      group.open = false;
      group.querySelector("summary")?.focus();
    } else if (menu.classList.contains("open")) {
      open(false);
      button.focus();
    }
  });
}
