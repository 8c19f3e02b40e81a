/** The primary figures of each class of users, from the document of a comparison. */

import type { Document, Quantity } from "./compare";

export interface Value {
  scheme: string;
  mean: number | null;
  low: number | null;
  high: number | null;
  /** Of the change against the baseline: better by the interval is 1, worse is -1. */
  verdict: -1 | 0 | 1;
}

export interface Figure {
  name: string;
  words: string;
  unit: string;
  values: Value[];
}

type Cell = Document["cells"][number];
type Scheme = Cell["schemes"][number];
type Row = Record<string, number | string | boolean | null>;

/** Curves over the size of transfers, and what a paper prints of them. */
export interface Picture {
  caption: string;
  /** What it shows, in words. */
  label: string;
  unit: "seconds" | "share";
  span: [number, number];
  curves: { name: string; points: [number, number][]; printed: [number, number][] }[];
  ranges: { name: string; bytes: number[]; share: number[] }[];
}

const PAGES = "page_mean_s";

/**
 * Returns the figures of a cell, which has at least one scheme: of short and long transfers, of pages, and of each kind
 * of application. Those without a value, or that `quantities` does not know, are left out.
 */
export function figuresOf(cell: Cell, quantities: Quantity[]): Figure[] {
  const first = cell.schemes[0]!;
  const wanted: { name: string; subject: string; words: (axis: string) => string; of: (scheme: Scheme) => Row | undefined; from: string; change: string }[] = [];
  for (const role of ["short", "long"]) {
    const row = (scheme: Scheme) => scheme.buckets.find((one) => one.role === role);
    const sizes = row(first)?.bucket ?? "";
    wanted.push({ name: "response_mean_s", subject: "bucket", words: (axis) => `${axis}, transfers ${sizes}`, of: row, from: "response_mean", change: "response_mean_change" });
  }
  const kinds = new Set<string>();
  for (const { group, kind, what, is_primary } of first.groups) {
    if (what !== PAGES && (kind === null || !is_primary || kinds.has(kind))) continue;
    if (kind !== null) kinds.add(kind);
    const row = (scheme: Scheme) => scheme.groups.find((one) => one.group === group && one.what === what);
    wanted.push({ name: what, subject: "application", words: (axis) => `${group}: ${axis}`, of: row, from: "value", change: "change" });
  }
  return wanted.flatMap(({ name, subject, words, of, from, change }) => {
    const quantity = quantities.find((one) => one.name === name && one.subject === subject) ?? quantities.find((one) => one.name === name);
    const suffix = from === "value" ? "" : name.slice(from.length);
    const number = (row: Row | undefined, field: string) => (typeof row?.[field] === "number" ? row[field] : null);
    const values = cell.schemes.map((scheme): Value => {
      const row = of(scheme);
      const changes = ["", "_low", "_high"].map((end) => number(row, `${change}${end}`));
      return {
        scheme: scheme.scheme,
        mean: number(row, `${from}${suffix}`),
        low: number(row, `${from}_low${suffix}`),
        high: number(row, `${from}_high${suffix}`),
        verdict: verdictOf(changes[1]!, changes[2]!, quantity?.is_less_better ?? true),
      };
    });
    if (!quantity || values.every((one) => one.mean === null)) return [];
    return [{ name: `${name} ${words("")}`, words: words(quantity.words), unit: quantity.unit, values }];
  });
}

/** Returns 1 if the whole interval of a change is for the better, -1 for the worse, 0 if it holds 0 or is unknown. */
function verdictOf(low: number | null, high: number | null, isLessBetter: boolean): -1 | 0 | 1 {
  const better = isLessBetter ? 1 : -1;
  if (high !== null && high < 0) return better;
  return low !== null && low > 0 ? (-better as -1 | 1) : 0;
}

/** Returns a number with three significant digits, without trailing zeros; from 100 on, as a whole number. */
const rounded = (number: number) => (Math.abs(number) >= 100 ? String(Math.round(number)) : String(Number(number.toPrecision(3))));

/** Returns the label of a figure as a title. */
export const titleOf = (figure: Figure) => figure.words[0]!.toUpperCase() + figure.words.slice(1);

/** Returns a number of a quantity's unit as text, such as `12.5 ms` of 0.0125 seconds; a dash for none. */
export function textOf(number: number | null, unit: string): string {
  if (number === null) return "–";
  if (unit === "seconds") return Math.abs(number) < 0.9995 ? `${rounded(1000 * number)} ms` : `${rounded(number)} s`;
  if (unit === "share") return `${rounded(100 * number)} %`;
  if (unit === "bits_per_second") return `${rounded(number / 1e6)} Mb/s`;
  return rounded(number);
}
