// Lets a person cut a leaf out of a picture: by dragging a rectangle, or by the arrow keys.
import { toFile } from "./pictures.js";
import { translate } from "./words.js";

const dialog = document.getElementById("crop");
const canvas = dialog.querySelector("canvas");
const PART = ` (${translate("part")})`;
const LONGEST_SIDE = 1000;
// What an arrow key moves an edge by, and the smallest side of a part, as shares of the picture's sides.
const STEP = 0.02;
const SMALLEST = 0.02;
const START = { left: 0.1, top: 0.1, right: 0.9, bottom: 0.9 };

const isTooSmall = ({ left, top, right, bottom }) => Math.min(right - left, bottom - top) < SMALLEST;
const clip = (value) => Math.min(1, Math.max(0, value));

// Reads the file that was sent or, where the browser can't show its format, the picture of the answer.
async function read(sent, shown) {
  try {
    return await createImageBitmap(sent);
  } catch {
    return createImageBitmap(shown);
  }
}

function draw(picture, box) {
  const { width, height } = canvas;
  const context = canvas.getContext("2d");
  context.drawImage(picture, 0, 0, width, height);
  context.fillStyle = "rgb(0 0 0 / 55%)";
  context.beginPath();
  context.rect(0, 0, width, height);
  context.rect(box.left * width, box.top * height, (box.right - box.left) * width, (box.bottom - box.top) * height);
  context.fill("evenodd");
}

function listen(picture, box, signal) {
  let start;
  const place = (event) => {
    const edge = canvas.getBoundingClientRect();
    return [clip((event.clientX - edge.left) / edge.width), clip((event.clientY - edge.top) / edge.height)];
  };
  const add = (kind, react) => canvas.addEventListener(kind, react, { signal });
  add("pointerdown", (event) => {
    canvas.setPointerCapture(event.pointerId);
    start = place(event);
  });
  add("pointermove", (event) => {
    if (!start) return;
    const [column, row] = place(event);
    [box.left, box.right] = [Math.min(start[0], column), Math.max(start[0], column)];
    [box.top, box.bottom] = [Math.min(start[1], row), Math.max(start[1], row)];
    draw(picture, box);
  });
  add("pointerup", () => {
    start = undefined;
    // A mere touch chooses nothing.
    if (isTooSmall(box)) Object.assign(box, START);
    draw(picture, box);
  });
  add("keydown", (event) => {
    const step = { ArrowLeft: [-STEP, 0], ArrowRight: [STEP, 0], ArrowUp: [0, -STEP], ArrowDown: [0, STEP] }[event.key];
    if (!step) return;
    event.preventDefault();
    const [first, second] = event.shiftKey ? ["right", "bottom"] : ["left", "top"];
    box[first] = clip(box[first] + step[0]);
    box[second] = clip(box[second] + step[1]);
    draw(picture, box);
  });
}

// Returns the part of a picture that a person chooses, as a file, or undefined.
export async function cutOut(sent, shown) {
  const picture = await read(sent, shown);
  const scale = Math.min(1, LONGEST_SIDE / Math.max(picture.width, picture.height));
  [canvas.width, canvas.height] = [picture.width * scale, picture.height * scale];
  const box = { ...START };
  draw(picture, box);
  const done = new AbortController();
  listen(picture, box, done.signal);
  dialog.returnValue = "";
  dialog.showModal();
  await new Promise((resolve) => dialog.addEventListener("close", resolve, { once: true }));
  done.abort();
  if (dialog.returnValue !== "send" || isTooSmall(box)) return undefined;
  const [width, height] = [box.right - box.left, box.bottom - box.top];
  const part = document.createElement("canvas");
  [part.width, part.height] = [width * picture.width, height * picture.height];
  part.getContext("2d").drawImage(picture, -box.left * picture.width, -box.top * picture.height);
  return toFile(part, shown.name.replace(PART, "").replace(/(\.\w+)?$/, `${PART}$1`));
}
