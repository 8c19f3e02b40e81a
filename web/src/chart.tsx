import { useEffect, useRef } from "preact/hooks";
import { expressionInterpreter } from "vega-interpreter";
import * as vega from "vega";
import { compile, type TopLevelSpec } from "vega-lite";
import { textOf, type Figure } from "./figures";

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

/** The chart of one figure, drawn anew where width or colours change. */
export function Chart({ figure, chosen }: { figure: Figure; chosen: string | null }) {
  const place = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const element = place.current!;
    let view: vega.View | undefined;
    const draw = async () => {
      view?.finalize();
      const spec = compile(described(figure, chosen, element.clientWidth)).spec;
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
  }, [figure, chosen]);
  return (
    <figure>
      <figcaption>{figure.words[0]!.toUpperCase() + figure.words.slice(1)}</figcaption>
      <div ref={place} role="img" aria-label={spoken(figure)} class="chart" />
    </figure>
  );
}
