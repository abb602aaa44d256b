// Answers from the cache when the server can't be reached; otherwise everything comes from the server. Pictures and
// their answers, which are posted, are never cached.
const CACHE = "leafid-2";
const PAGES = ["/", "/guide", "/static/style.css", "/static/site.css", "/static/site.js", "/static/answers.js"];
const NAMES = ["words", "notes", "memory", "export", "pictures", "crop", "ends", "guide", "yours", "offline"];
const SCRIPTS = NAMES.map((name) => `/static/${name}.js`);

addEventListener("install", (event) => {
  event.waitUntil(caches.open(CACHE).then((cache) => cache.addAll([...PAGES, ...SCRIPTS])));
});

// Earlier versions kept a page for each query.
addEventListener("activate", (event) => event.waitUntil(caches.delete("leafid")));

// Keeps a file once, whatever follows its path in the address.
async function load(request) {
  const cache = await caches.open(CACHE);
  const { pathname } = new URL(request.url);
  try {
    const response = await fetch(request);
    if (response.ok) await cache.put(pathname, response.clone());
    return response;
  } catch (error) {
    const kept = await cache.match(pathname);
    if (kept) return kept;
    throw error;
  }
}

addEventListener("fetch", (event) => {
  const { pathname } = new URL(event.request.url);
  const isKept = pathname.startsWith("/static/") || PAGES.includes(pathname);
  if (event.request.method === "GET" && isKept) event.respondWith(load(event.request));
});
