// Ends with an error unless two JSON files hold the same; numbers may differ by 1e-12 of themselves, as ln and exp do.
import { readFileSync } from "node:fs";

const [one, other] = process.argv.slice(2).map((name) => JSON.parse(readFileSync(name, "utf8")));

function difference(a, b, place) {
  if (typeof a === "number" && typeof b === "number")
    return Math.abs(a - b) <= 1e-12 * Math.max(Math.abs(a), Math.abs(b)) ? null : `${place}: ${a}, ${b}`;
  if (a === null || b === null || typeof a !== "object" || typeof b !== "object")
    return a === b ? null : `${place}: ${a}, ${b}`;
  for (const key of new Set([...Object.keys(a), ...Object.keys(b)])) {
    const found = difference(a[key] ?? null, b[key] ?? null, `${place}/${key}`);
    if (found) return found;
  }
  return null;
}

const found = difference(one, other, "");
if (found) {
  console.error(`the documents differ at ${found}`);
  process.exit(1);
}
