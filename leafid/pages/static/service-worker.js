// Answers from the cache when the server can't be reached; otherwise everything comes from the server. Pictures and
// their answers, which are posted, are never cached.
const CACHE = "leafid";
const PAGES = ["/", "/guide", "/static/style.css", "/static/site.css", "/static/site.js", "/static/answers.js"];
const SCRIPTS = ["notes", "export", "pictures", "crop", "guide", "offline"].map((name) => `/static/${name}.js`);

addEventListener("install", (event) => {
  event.waitUntil(caches.open(CACHE).then((cache) => cache.addAll([...PAGES, ...SCRIPTS])));
});

async function load(request) {
  const cache = await caches.open(CACHE);
  try {
    const response = await fetch(request);
    if (response.ok) await cache.put(request, response.clone());
    return response;
  } catch (error) {
    const kept = await cache.match(request);
    if (kept) return kept;
    throw error;
  }
}

addEventListener("fetch", (event) => {
  const { pathname } = new URL(event.request.url);
  const isKept = pathname.startsWith("/static/") || PAGES.includes(pathname);
  if (event.request.method === "GET" && isKept) event.respondWith(load(event.request));
});
