// Forgets the answers that the browser keeps for each tab, in all of them: tabs that sleep meanwhile, or show another
// page, find out when they are used again.
const ANSWERS = "leafid";
// When a person last had everything forgotten: for all tabs in localStorage, as far as a tab knows in sessionStorage.
const FORGOTTEN = "leafid-forgotten";

// Deletes the answers of this tab if everything was forgotten since it last looked; says whether it was.
export function catchUp() {
  try {
    const last = localStorage.getItem(FORGOTTEN) ?? "";
    if ((sessionStorage.getItem(FORGOTTEN) ?? "") === last) return false;
    sessionStorage.removeItem(ANSWERS);
    sessionStorage.setItem(FORGOTTEN, last);
    return true;
  } catch {
    // The browser stores nothing.
    return false;
  }
}

export function forgetInAllTabs() {
  try {
    localStorage.setItem(FORGOTTEN, new Date().toISOString());
  } catch {
    // The browser stores nothing.
  }
  catchUp();
}

// Calls a function when everything was forgotten in another tab.
export function onForgotten(react) {
  for (const kind of ["storage", "pageshow", "visibilitychange"]) {
    addEventListener(kind, () => {
      if (catchUp()) react();
    });
  }
}
