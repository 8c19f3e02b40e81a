// Keeps the page's own files, so that it works without a network; it asks no other host for anything.
const STORE = "mousehole-1";

self.addEventListener("install", () => self.skipWaiting());
self.addEventListener("activate", (event) => event.waitUntil(self.clients.claim()));

self.addEventListener("fetch", (event) => {
  const { request } = event;
  if (request.method !== "GET" || new URL(request.url).origin !== self.location.origin) return;
  event.respondWith(answer(request));
});

// Files of the build have their digest in their names, so what is kept is right; the page itself is asked for first.
async function answer(request) {
  const store = await caches.open(STORE);
  const isFixed = new URL(request.url).pathname.includes("/assets/");
  const kept = await store.match(request, { ignoreSearch: true });
  if (kept && isFixed) return kept;
  try {
    const found = await fetch(request);
    if (found.ok) await store.put(request, found.clone());
    return found;
  } catch (error) {
    if (kept) return kept;
    throw error;
  }
}
