// Keeps the punch list in this browser, so that it opens in a hall without a network.

const LISTS = ["/punch", "/api/v1/steps?limit=1000", "/api/v1/steps/marks", "/api/v1/fabric"];

/**
 * Whether the page can be opened again without a network. Browsers allow that over HTTPS and on the service's own
 * machine only; elsewhere the page works on while it stays open.
 * @returns {Promise<boolean>}
 */
export async function keepForTheHall() {
  if (!("serviceWorker" in navigator)) return false;
  const version = new URL(import.meta.url).pathname.split("/")[2];
  try {
    const found = await navigator.serviceWorker.register(`/punch-worker.js?v=${version}`, { scope: "/punch" });
    const worker = found.installing ?? found.waiting ?? found.active;
    if (!worker) return false;
    const files = performance.getEntriesByType("resource").map((entry) => entry.name);
    const ours = files.filter((name) => name.startsWith(`${location.origin}/static/`));
    const { port1, port2 } = new MessageChannel();
    const kept = new Promise((resolve) => (port1.onmessage = ({ data }) => resolve(data === true)));
    worker.postMessage([...new Set([...ours, ...LISTS])], [port2]);
    return await kept;
  } catch {
    return false; // refused by the browser, or no network by now
  }
}
