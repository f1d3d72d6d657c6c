// Runs before the first paint: what was chosen by hand wins over what the system prefers.
(() => {
  try {
    const chosen = localStorage.getItem("truerail:theme");
    if (chosen === "light" || chosen === "dark") document.documentElement.dataset.theme = chosen;
  } catch { /* storage is blocked: the system's preference holds */ }
})();
