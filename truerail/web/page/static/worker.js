// The punch list without a network: its page, its files and its newest lists, from this browser's cache. It keeps nothing
// about the caller, and forgets everything when the service asks for a log-in.

const PREFIX = "truerail-punch-";
const CACHE = PREFIX + new URL(location.href).searchParams.get("v");
const LISTS = new Set(["/punch", "/api/v1/steps", "/api/v1/steps/marks", "/api/v1/fabric"]);

addEventListener("install", (/** @type {any} */ event) => event.waitUntil(self.skipWaiting()));
addEventListener("activate", (/** @type {any} */ event) => event.waitUntil(tidy()));
addEventListener("message", (/** @type {any} */ event) => event.waitUntil(keep(event.data, event.ports[0])));
addEventListener("fetch", (/** @type {any} */ event) => {
  const { request } = event;
  const { origin, pathname } = new URL(request.url);
  if (request.method !== "GET" || origin !== location.origin) return;
  if (pathname.startsWith("/static/")) event.respondWith(filed(request));
  else if (LISTS.has(pathname)) event.respondWith(newest(request));
});

/** Files of earlier versions go. */
async function tidy() {
  for (const name of await caches.keys()) if (name.startsWith(PREFIX) && name !== CACHE) await caches.delete(name);
  await self.clients.claim();
}

/** @param {string[]} addresses @param {MessagePort} port */
async function keep(addresses, port) {
  try {
    const cache = await caches.open(CACHE);
    await cache.addAll(addresses);
    port.postMessage(true);
  } catch {
    port.postMessage(false);
  }
}

/** A file never changes under its address. @param {Request} request */
async function filed(request) {
  return (await caches.match(request, { ignoreVary: true })) ?? fetch(request);
}

/** @param {Request} request */
async function newest(request) {
  const page = request.mode === "navigate";
  try {
    const answer = await fetch(request);
    if (answer.ok) {
      const cache = await caches.open(CACHE);
      await cache.put(page ? "/punch" : request, answer.clone());
    } else if (answer.status === 401 || answer.type === "opaqueredirect") await caches.delete(CACHE);
    return answer;
  } catch (error) {
    const kept = await caches.match(page ? "/punch" : request, { ignoreVary: true });
    if (!kept) throw error;
    return kept;
  }
}
