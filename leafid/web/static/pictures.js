// Reads pictures in the browser.

export async function toFile(canvas, name) {
  const blob = await new Promise((resolve) => canvas.toBlob(resolve, "image/jpeg", 0.95));
  return new File([blob], name, { type: "image/jpeg" });
}

// Makes files of the pictures that an answer shows, where those that were sent are no longer here.
export function readPictures(answer) {
  const articles = [...answer.querySelectorAll("article:has(.leaf-picture)")];
  return Promise.all(
    articles.map(async (article) => {
      const image = new Image();
      image.src = article.querySelector(".leaf-picture image").getAttribute("href");
      await image.decode();
      const canvas = document.createElement("canvas");
      [canvas.width, canvas.height] = [image.naturalWidth, image.naturalHeight];
      canvas.getContext("2d").drawImage(image, 0, 0);
      return toFile(canvas, article.querySelector("h2").textContent);
    }),
  );
}

// Reads the day on which a photo was taken, the earliest of the dates in its header, in ISO 8601; "" without one.
export async function readDate(file) {
  const head = new TextDecoder("latin1").decode(await file.slice(0, 1 << 16).arrayBuffer());
  const dates = [...head.matchAll(/((?:19|20)\d\d):(\d\d):(\d\d) \d\d:\d\d:\d\d/g)];
  return dates.map(([, ...parts]) => parts.join("-")).sort()[0] ?? "";
}
