// Keeps the pages for times without the server, where the browser allows it: not at an address without encryption.
if ("serviceWorker" in navigator) {
  navigator.serviceWorker.register("/static/service-worker.js", { scope: "/" }).catch(() => {});
} else if (!window.isSecureContext) {
  const note = document.getElementById("offline");
  if (note) note.hidden = false;
}
