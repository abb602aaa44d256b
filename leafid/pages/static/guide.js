// Filters the plates of the field guide, and opens the one that a link names.
const plates = [...document.querySelectorAll(".plate")];
const filter = document.getElementById("filter");
const nothing = document.getElementById("nothing");

// Leaves out accents, which not every keyboard has; a capital ß is SS.
const simplify = (text) => text.normalize("NFD").replace(/\p{M}/gu, "").toUpperCase();

function sift() {
  const words = simplify(filter.value).split(/\s+/);
  for (const plate of plates) {
    const parts = [plate.parentElement.previousElementSibling, ...plate.querySelectorAll("summary, .traits")];
    const text = simplify([plate.dataset.names, ...parts.map((part) => part.textContent)].join(" "));
    plate.hidden = !words.every((word) => text.includes(word));
  }
  const isFound = plates.some((plate) => !plate.hidden);
  nothing.textContent = isFound ? "" : nothing.dataset.text;
  for (const family of document.querySelectorAll(".family")) family.hidden = !family.querySelector(".plate:not([hidden])");
}

function openTarget() {
  const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  const plate = target?.closest(".plate");
  if (!plate) return;
  plate.open = true;
  plate.scrollIntoView();
}

filter.closest("label").hidden = false;
filter.addEventListener("input", sift);
addEventListener("hashchange", openTarget);
openTarget();
