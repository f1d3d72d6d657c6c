// Saves the ticks of the punch list in this browser and counts them. The page is complete without it.
(() => {
  const boxes = [...document.querySelectorAll("#punch input[type=checkbox]")];
  const reported = document.getElementById("progress");
  const key = "truerail:" + document.title;
  let kept = [];
  try { kept = JSON.parse(localStorage.getItem(key) || "[]"); } catch (error) { kept = []; }
  const tell = () => {
    const done = boxes.filter((box) => box.checked);
    if (reported) reported.textContent = done.length + " of " + boxes.length + " ticked";
    try { localStorage.setItem(key, JSON.stringify(done.map((box) => box.id))); } catch (error) { /* private window */ }
  };
  for (const box of boxes) {
    box.checked = kept.includes(box.id);
    box.addEventListener("change", tell);
  }
  if (boxes.length) tell();
})();
