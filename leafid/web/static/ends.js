// Lets a person choose the tip and the base of a leaf on its picture: by clicks, or by the arrow keys and Enter.
import { translate } from "./words.js";

const dialog = document.getElementById("ends");
const holder = dialog.querySelector(".picture");
const hint = dialog.querySelector("[role=status]");
const NAMES = ["tip", "base"];
const HINTS = [
  translate("Click on the tip of the leaf."),
  translate("Now click on its base, where the stalk begins."),
];
const TOO_CLOSE = translate(
  "That is where the tip is. The base is at the other end of the leaf, where the stalk begins: click there.",
);
// What an arrow key moves the cross by, without and with Shift, as shares of the picture's sides.
const STEP = 0.02;
const SMALL_STEP = 0.004;
// How far tip and base are apart at least, as a share of the picture's sides; uploads.py refuses others.
const LEAST_DISTANCE = 0.02;
const ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

const clip = (share) => Math.min(0.9999, Math.max(0.0001, share));

// Copies a picture without the tip and base that it shows.
function copy(picture) {
  const svg = picture.cloneNode(true);
  svg.removeAttribute("aria-labelledby");
  svg.setAttribute("aria-hidden", "true");
  for (const part of svg.querySelectorAll("title, .landmark")) part.remove();
  return svg;
}

function draw(svg, name, classes) {
  const shape = document.createElementNS(svg.namespaceURI, name);
  shape.setAttribute("class", classes);
  svg.append(shape);
  return shape;
}

// Moves a mark to a column and a row, which are shares of the picture's sides.
function move(svg, shape, [column, row]) {
  const { width, height } = svg.viewBox.baseVal;
  const unit = Math.max(width, height) / 400;
  shape.setAttribute("transform", `translate(${column * width} ${row * height}) scale(${unit})`);
}

function mark(svg, name, place) {
  const circle = draw(svg, "circle", `landmark ${name}`);
  circle.setAttribute("r", 5);
  circle.setAttribute("stroke-width", 1.2);
  move(svg, circle, place);
}

// Returns where in a picture a person clicked: column and row as shares of its sides.
function locate(svg, { clientX, clientY }) {
  const { width, height } = svg.viewBox.baseVal;
  const { x, y } = new DOMPoint(clientX, clientY).matrixTransform(svg.getScreenCTM().inverse());
  return [clip(x / width), clip(y / height)];
}

function listen(svg, add, signal) {
  let place = [0.5, 0.5];
  let cross;
  holder.addEventListener("click", (event) => add(locate(svg, event)), { signal });
  holder.addEventListener(
    "keydown",
    (event) => {
      const direction = ARROWS[event.key];
      if (!direction && event.key !== "Enter") return;
      // Enter would press the button that has the focus when the dialog is closed.
      event.preventDefault();
      if (!direction) {
        if (cross) add(place);
        return;
      }
      const step = event.shiftKey ? SMALL_STEP : STEP;
      place = place.map((share, side) => clip(share + step * direction[side]));
      if (!cross) {
        cross = draw(svg, "path", "cross");
        cross.setAttribute("d", "M-12 0H-3M3 0H12M0-12V-3M0 3V12");
      }
      move(svg, cross, place);
    },
    { signal },
  );
}

// Returns column and row of the tip and the base that a person chooses, as shares of the picture's sides, or undefined.
export async function chooseEnds(picture) {
  const svg = copy(picture);
  const ends = [];
  const done = new AbortController();
  const add = (place) => {
    if (ends.length && Math.hypot(place[0] - ends[0][0], place[1] - ends[0][1]) < LEAST_DISTANCE) {
      hint.textContent = TOO_CLOSE;
      return;
    }
    mark(svg, NAMES[ends.length], place);
    ends.push(place);
    if (ends.length < NAMES.length) hint.textContent = HINTS[ends.length];
    else dialog.close("chosen");
  };
  holder.replaceChildren(svg);
  listen(svg, add, done.signal);
  [hint.textContent] = HINTS;
  dialog.returnValue = "";
  dialog.showModal();
  holder.focus();
  await new Promise((resolve) => dialog.addEventListener("close", resolve, { once: true }));
  done.abort();
  holder.replaceChildren();
  if (dialog.returnValue !== "chosen") return undefined;
  return ends.flat().map((share) => share.toFixed(4)).join(",");
}
