import { useCallback, useEffect, useRef } from "preact/hooks";
import { expressionInterpreter } from "vega-interpreter";
import * as vega from "vega";
import { compile, type TopLevelSpec } from "vega-lite";
import { textOf, type Figure, type Picture } from "./figures";

/** How numbers of a unit stand at an axis. */
const LABELS: Record<string, string> = {
  seconds:
    "datum.value === 0 ? '0' : datum.value < 0.9995 ? format(datum.value * 1000, '~r') + ' ms' : format(datum.value, '~r') + ' s'",
  share: "format(datum.value, '~%')",
  bits_per_second: "format(datum.value, '~s') + 'b/s'",
};
const PLAIN = "format(datum.value, '~r')";

function colours() {
  const style = getComputedStyle(document.documentElement);
  const named = (name: string) => style.getPropertyValue(name).trim();
  return { fore: named("--fore"), dim: named("--dim"), line: named("--line"), good: named("--good"), bad: named("--bad") };
}

/** Returns the chart of a figure: a point with its interval for each scheme, beside a line at the first one. */
function described(figure: Figure, chosen: string | null, width: number): TopLevelSpec {
  const { fore, dim, line, good, bad } = colours();
  const rows = figure.values.map((one) => ({
    ...one,
    how: one.verdict > 0 ? "better" : one.verdict < 0 ? "worse" : "neither",
    name: one.scheme === chosen ? `▸ ${one.scheme}` : one.scheme,
  }));
  const base = rows[0]?.mean ?? null;
  const y = { field: "name", type: "nominal", sort: null, title: null } as const;
  const color = {
    field: "how",
    type: "nominal",
    scale: { domain: ["better", "neither", "worse"], range: [good, dim, bad] },
    legend: null,
  } as const;
  const x = { type: "quantitative", title: null, scale: { zero: true, nice: true }, axis: { labelExpr: LABELS[figure.unit] ?? PLAIN, tickCount: 4, labelOverlap: "greedy", labelSeparation: 8 } } as const;
  return {
    $schema: "https://vega.github.io/schema/vega-lite/v6.json",
    width: Math.max(120, width),
    height: rows.length * 19 + 26,
    autosize: { type: "fit", contains: "padding" },
    background: "transparent",
    data: { values: rows },
    layer: [
      ...(base === null
        ? []
        : [{ mark: { type: "rule", color: dim, strokeDash: [3, 3] }, encoding: { x: { datum: base, ...x } } } as const]),
      { mark: { type: "rule", strokeWidth: 2 }, encoding: { y, x: { field: "low", ...x }, x2: { field: "high" }, color } },
      {
        mark: { type: "point", filled: true, size: 70, opacity: 1 },
        encoding: {
          y,
          x: { field: "mean", ...x },
          color,
          shape: { field: "how", type: "nominal", scale: { domain: ["better", "neither", "worse"], range: ["circle", "square", "triangle-right"] }, legend: null },
        },
      },
    ],
    config: {
      font: "system-ui, sans-serif",
      view: { stroke: null },
      axis: { labelColor: fore, gridColor: line, domainColor: line, tickColor: line, labelFontSize: 12, labelLimit: 150 },
    },
  } as TopLevelSpec;
}

function spoken(figure: Figure): string {
  return `${figure.words}: ${figure.values.map((one) => `${one.scheme} ${textOf(one.mean, figure.unit)}`).join(", ")}`;
}

/** A chart, drawn anew where width or colours change. */
function Drawn({ caption, label, described }: { caption: string; label: string; described(width: number): TopLevelSpec }) {
  const place = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const element = place.current!;
    let view: vega.View | undefined;
    const draw = async () => {
      view?.finalize();
      // Vega puts the description of its specification in the place of the label.
      const spec = compile({ ...described(element.clientWidth), description: label }).spec;
      const runtime = vega.parse(spec, undefined, { ast: true });
      view = new vega.View(runtime, { renderer: "svg", container: element, expr: expressionInterpreter } as vega.ViewOptions);
      await view.runAsync();
      element.querySelector("svg")?.setAttribute("aria-hidden", "true");
    };
    let width = 0;
    const seen = new ResizeObserver(() => {
      if (element.clientWidth === width) return;
      width = element.clientWidth;
      void draw();
    });
    seen.observe(element);
    const dark = matchMedia("(prefers-color-scheme: dark)");
    const redraw = () => void draw();
    dark.addEventListener("change", redraw);
    return () => {
      seen.disconnect();
      dark.removeEventListener("change", redraw);
      view?.finalize();
    };
  }, [described, label]);
  return (
    <figure>
      <figcaption>{caption}</figcaption>
      <div ref={place} role="img" aria-label={label} class="chart" />
    </figure>
  );
}

/** The chart of one figure. */
export function Chart({ figure, chosen }: { figure: Figure; chosen: string | null }) {
  const words = figure.words[0]!.toUpperCase() + figure.words.slice(1);
  const drawn = useCallback((width: number) => described(figure, chosen, width), [figure, chosen]);
  return <Drawn caption={words} label={spoken(figure)} described={drawn} />;
}

const BYTES = "datum.value >= 1e6 ? format(datum.value / 1e6, '~r') + ' MB' : format(datum.value / 1e3, '~r') + ' kB'";

/** Returns 1, 2 and 5 tens, hundreds and so on within an interval. */
function steps([low, high]: [number, number]): number[] {
  const tens = Array.from({ length: Math.round(Math.log10(high / low)) + 1 }, (_, place) => low * 10 ** place);
  return tens.flatMap((ten) => [ten, 2 * ten, 5 * ten]).filter((one) => one <= high * 1.001);
}

/** Returns the picture of a paper's curves: our runs as lines, what the paper prints as crosses or boxes. */
function ofCurves(picture: Picture, width: number): TopLevelSpec {
  const style = getComputedStyle(document.documentElement);
  const { fore, dim, line } = colours();
  const names = picture.curves.map((one) => one.name);
  const own = (name: string) => style.getPropertyValue(name).trim();
  const color = { field: "name", type: "nominal", scale: { domain: names, range: [dim, own("--page-dot"), own("--call")].slice(-names.length) }, legend: { title: null, orient: "top" } } as const;
  const isShare = picture.unit === "share";
  const x = { field: "bytes", type: "quantitative", title: "size of the transfer", scale: { type: "log", domain: picture.span }, axis: { labelExpr: BYTES, values: steps(picture.span), grid: false } } as const;
  const y = { type: "quantitative", title: null, scale: isShare ? { zero: true } : { type: "log", nice: false }, axis: { labelExpr: LABELS[picture.unit]!, ...(isShare ? { tickCount: 5 } : { values: steps([1e-3, 1e3]) }) } } as const;
  const rows = picture.curves.flatMap(({ name, points }) => points.map(([bytes, value]) => ({ name, bytes, value })));
  const printed = picture.curves.flatMap(({ name, printed }) => printed.map(([bytes, value]) => ({ name, bytes, value })));
  const boxes = picture.ranges.map((one) => ({ bytes: one.bytes[0], to: one.bytes[1], value: one.share[0], high: one.share[1] }));
  return {
    $schema: "https://vega.github.io/schema/vega-lite/v6.json",
    width: Math.max(120, width),
    height: Math.min(380, Math.max(220, width * 0.55)),
    autosize: { type: "fit", contains: "padding" },
    background: "transparent",
    layer: [
      { data: { values: boxes }, mark: { type: "rect", fillOpacity: 0.18, fill: fore, stroke: fore, strokeDash: [3, 3] }, encoding: { x, x2: { field: "to" }, y: { field: "value", ...y }, y2: { field: "high" } } },
      { data: { values: rows }, mark: { type: "line", strokeWidth: 2.5, point: { size: 45 } }, encoding: { x, y: { field: "value", ...y }, color } },
      { data: { values: printed }, mark: { type: "point", shape: "cross", size: 90, strokeWidth: 0, filled: true, opacity: 1 }, encoding: { x, y: { field: "value", ...y }, color } },
      ...(isShare ? [{ mark: { type: "rule", color: dim, strokeDash: [3, 3] }, encoding: { y: { datum: 0, ...y } } } as const] : []),
    ],
    config: {
      font: "system-ui, sans-serif",
      view: { stroke: null },
      legend: { labelColor: fore, labelFontSize: 13 },
      axis: { labelColor: fore, titleColor: dim, gridColor: line, domainColor: line, tickColor: line, labelFontSize: 12 },
    },
  } as TopLevelSpec;
}

/** The picture of a paper's curves. */
export function Curves({ picture }: { picture: Picture }) {
  const drawn = useCallback((width: number) => ofCurves(picture, width), [picture]);
  return <Drawn caption={picture.caption} label={picture.label} described={drawn} />;
}
