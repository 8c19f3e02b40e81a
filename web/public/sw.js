// Keeps the page's own files, so that it works without a network; it asks no other host for anything.
const STORE = "mousehole-1";

self.addEventListener("install", () => self.skipWaiting());
self.addEventListener("activate", (event) => event.waitUntil(self.clients.claim()));

self.addEventListener("fetch", (event) => {
  const { request } = event;
  if (request.method !== "GET" || new URL(request.url).origin !== self.location.origin) return;
  event.respondWith(answer(request, (kept) => event.waitUntil(kept)));
});

// Files of the build have their digest in their names, so what is kept is right; the page itself is asked for first.
// A store that is full or broken takes no answer away: what was fetched is given whether it can be kept or not.
// Resolves with the stored or fetched file, rejects as fetch() does if there is neither. `finishLater` gets a promise
// that the worker must outlive, and which does not reject.
async function answer(request, finishLater) {
  const store = await caches.open(STORE).catch(() => undefined);
  const isFixed = new URL(request.url).pathname.includes("/assets/");
  const kept = await store?.match(request, { ignoreSearch: true }).catch(() => undefined);
  if (kept && isFixed) return kept;
  try {
    const found = await fetch(request);
    if (found.ok && store) finishLater(store.put(request, found.clone()).catch(() => undefined));
    return found;
  } catch (error) {
    if (kept) return kept;
    throw error;
  }
}
