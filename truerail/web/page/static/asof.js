// The time that a page shows: now, or a time of the journal. The address holds it as `at`, so that it can be pasted.

const PAGES = /^\/($|(causes|findings|cables|devices|switch-ports|racks|topology|hosts|switches|storm)(\/|$))/;
const ANSWERS = /^\/api\/v1\/(fabric|map|topology|causes|findings|cables|devices|ports|racks|storm)([/?]|$)/;
const OF_NOW = /\/alerts([?]|$)/;
const CHANGED = "truerail:at";
const LEFT_ALONE = "data-now";
let latest = at();
let watching = false;

/** Whether this page can show an earlier time. */
export const takesTime = PAGES.test(location.pathname) && document.body.dataset.page !== "lost";

/** The time that is shown; null for now. @returns {string | null} */
export function at() {
  return PAGES.test(location.pathname) ? new URLSearchParams(location.search).get("at") || null : null;
}

/** An address of the API at the time that is shown. @param {string} url */
export function dated(url) {
  const time = at();
  if (!time || !ANSWERS.test(url) || OF_NOW.test(url) || /[?&]at=/.test(url)) return url;
  return `${url}${url.includes("?") ? "&" : "?"}at=${encodeURIComponent(time)}`;
}

/** A page's address at the time that is shown, where that page can show it. @param {string} href */
export function carry(href) {
  const url = new URL(href, location.href);
  const time = at();
  if (url.origin !== location.origin || !PAGES.test(url.pathname)) return href;
  if (time) url.searchParams.set("at", time);
  else url.searchParams.delete("at");
  return url.pathname + url.search + url.hash;
}

/** Another time; null for now. @param {string | null} time @param {boolean} [replace] the same time in other words */
export function go(time, replace = false) {
  const url = new URL(location.href);
  if (time) url.searchParams.set("at", time);
  else url.searchParams.delete("at");
  history[replace ? "replaceState" : "pushState"](null, "", url);
  if (replace) latest = at();
  else turned();
}

/** Calls back when another time is shown. @param {() => void} heard */
export function onTime(heard) {
  addEventListener(CHANGED, heard);
}

function turned() {
  if (at() === latest) return;
  latest = at();
  follow();
  dispatchEvent(new CustomEvent(CHANGED));
}

/** Links lead to the same time, also those that are drawn later. One with `data-now` leads to now. */
export function follow() {
  relink(document);
  if (watching || !at()) return;
  watching = true;
  new MutationObserver((changes) => {
    for (const { addedNodes } of changes) for (const node of addedNodes) if (node instanceof Element) relink(node);
  }).observe(document.body, { childList: true, subtree: true });
}

/** @param {Document | Element} root */
function relink(root) {
  const own = root instanceof HTMLAnchorElement ? [root] : [];
  for (const link of [...own, ...root.querySelectorAll("a[href^='/'], a[href^='?']")]) {
    const href = link.getAttribute("href") ?? "";
    if (!link.hasAttribute(LEFT_ALONE) && carry(href) !== href) link.setAttribute("href", carry(href));
  }
}

addEventListener("popstate", turned);
