// Says everything in the language of the page, whose header has the words of all scripts.
const words = JSON.parse(document.querySelector(".site").dataset.words);

// Translates an English message, and fills in values where it has their names in braces.
export function translate(message, values = {}) {
  return (words[message] ?? message).replace(/\{(\w+)\}/g, (_, name) => values[name]);
}

// Formats a probability; it never rounds to certainty.
export function formatPercent(probability) {
  const digits = { style: "percent", minimumFractionDigits: 1 };
  const format = (share) => share.toLocaleString(document.documentElement.lang, digits);
  if (probability >= 0.9995) return `>${format(0.999)}`;
  return probability < 0.0005 ? `<${format(0.001)}` : format(probability);
}
