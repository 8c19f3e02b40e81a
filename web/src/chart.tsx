import { useCallback, useEffect, useRef } from "preact/hooks";
import { expressionInterpreter } from "vega-interpreter";
import * as vega from "vega";
import { compile, type TopLevelSpec } from "vega-lite";
import { textOf, titleOf, type Figure, type Picture } from "./figures";

/** The format of numbers of a unit on an axis. */
const LABELS: Record<string, string> = {
  seconds:
    "datum.value === 0 ? '0' : datum.value < 0.9995 ? format(datum.value * 1000, '~r') + ' ms' : format(datum.value, '~r') + ' s'",
  share: "format(datum.value, '~%')",
  bits_per_second: "format(datum.value, '~s') + 'b/s'",
};
const PLAIN = "format(datum.value, '~r')";

/** Colours of the page by their names; charts follow light and dark without being drawn anew. */
const [FORE, DIM, LINE, GOOD, BAD, PAGE, CALL] = ["fore", "dim", "line", "good", "bad", "page-dot", "call"].map((name) => `var(--${name})`);

/** Returns the chart of a figure: a point with its interval for each scheme, and a line at the first one. */
function described(figure: Figure, chosen: string | null, width: number): TopLevelSpec {
  const rows = figure.values.map((one) => ({
    ...one,
    how: one.verdict > 0 ? "better" : one.verdict < 0 ? "worse" : "neither",
    name: one.scheme === chosen ? `▸ ${one.scheme}` : one.scheme,
  }));
  const base = rows[0]?.mean ?? null;
  // Named here, since a layer whose schemes have no interval would put them last.
  const y = { field: "name", type: "nominal", scale: { domain: rows.map((one) => one.name) }, title: null } as const;
  const color = {
    field: "how",
    type: "nominal",
    scale: { domain: ["better", "neither", "worse"], range: [GOOD, DIM, BAD] },
    legend: null,
  } as const;
  const x = { type: "quantitative", title: null, scale: { zero: true, nice: true }, axis: { labelExpr: LABELS[figure.unit] ?? PLAIN, tickCount: 4, labelOverlap: "parity", labelSeparation: 8 } } as const;
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
        : [{ mark: { type: "rule", color: DIM, strokeDash: [3, 3] }, encoding: { x: { datum: base, ...x } } } as const]),
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
      axis: { labelColor: FORE, gridColor: LINE, domainColor: LINE, tickColor: LINE, labelFontSize: 12, labelLimit: 150 },
    },
  } as TopLevelSpec;
}

/** Returns the means of a figure as a sentence, for those who do not see it. */
function describeFigure(figure: Figure): string {
  return `${figure.words}: ${figure.values.map((one) => `${one.scheme} ${textOf(one.mean, figure.unit)}`).join(", ")}`;
}

/**
 * Returns a chart as an SVG element in the colours of the page around it, hidden from readers of its label. Rejects if
 * Vega cannot draw it.
 */
async function drawn(described: TopLevelSpec, label: string): Promise<Element> {
  // Vega puts the description of its specification in the place of the label.
  const runtime = vega.parse(compile({ ...described, description: label }).spec, undefined, { ast: true });
  const view = new vega.View(runtime, { renderer: "none", expr: expressionInterpreter } as vega.ViewOptions);
  try {
    const svg = new DOMParser().parseFromString(await view.toSVG(), "image/svg+xml").documentElement;
    svg.setAttribute("aria-hidden", "true");
    return svg;
  } finally {
    view.finalize();
  }
}

/** A chart, drawn anew where its width changes; of drawings that overlap, the one that began last stays. */
function Drawn({ caption, label, described }: { caption: string; label: string; described(width: number): TopLevelSpec }) {
  const place = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const element = place.current!;
    let [width, last] = [0, 0];
    const draw = () => {
      if (element.clientWidth === width) return;
      width = element.clientWidth;
      const own = ++last;
      const put = (content: Element | string) => {
        if (own === last) element.replaceChildren(content);
      };
      drawn(described(width), label).then(put, (error: unknown) => put(`This chart cannot be drawn: ${String(error)}`));
    };
    draw();
    const seen = new ResizeObserver(draw);
    seen.observe(element);
    return () => {
      seen.disconnect();
      last++;
    };
  }, [described, label]);
  return (
    <figure>
      <figcaption>{caption}</figcaption>
      <div ref={place} role="img" aria-label={label} class="chart" />
    </figure>
  );
}

/** Returns the chart of a figure as SVG, its colours by the names of the page's, and what it shows in words. */
export async function pictureOf(figure: Figure, chosen: string | null, width: number): Promise<{ svg: string; label: string }> {
  const label = describeFigure(figure);
  return { svg: new XMLSerializer().serializeToString(await drawn(described(figure, chosen, width), label)), label };
}

/** The chart of one figure. */
export function Chart({ figure, chosen }: { figure: Figure; chosen: string | null }) {
  const spec = useCallback((width: number) => described(figure, chosen, width), [figure, chosen]);
  return <Drawn caption={titleOf(figure)} label={describeFigure(figure)} described={spec} />;
}

const BYTES = "datum.value >= 1e6 ? format(datum.value / 1e6, '~r') + ' MB' : format(datum.value / 1e3, '~r') + ' kB'";

/** Returns 1, 2 and 5 tens, hundreds and so on within an interval that begins at one of the first. */
function steps([low, high]: [number, number]): number[] {
  const tens = Array.from({ length: Math.round(Math.log10(high / low)) + 1 }, (_, place) => low * 10 ** place);
  return tens.flatMap((ten) => [ten, 2 * ten, 5 * ten]).filter((one) => one <= high * 1.001);
}

/** Returns the picture of a paper's curves: our runs as lines, published points as crosses or boxes. */
function specifyCurves(picture: Picture, width: number): TopLevelSpec {
  const names = picture.curves.map((one) => one.name);
  const color = { field: "name", type: "nominal", scale: { domain: names, range: [DIM, PAGE, CALL].slice(-names.length) }, legend: { title: null, orient: "top" } } as const;
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
      { data: { values: boxes }, mark: { type: "rect", fillOpacity: 0.18, fill: FORE, stroke: FORE, strokeDash: [3, 3] }, encoding: { x, x2: { field: "to" }, y: { field: "value", ...y }, y2: { field: "high" } } },
      { data: { values: rows }, mark: { type: "line", strokeWidth: 2.5, point: { size: 45 } }, encoding: { x, y: { field: "value", ...y }, color } },
      { data: { values: printed }, mark: { type: "point", shape: "cross", size: 90, strokeWidth: 0, filled: true, opacity: 1 }, encoding: { x, y: { field: "value", ...y }, color } },
      ...(isShare ? [{ mark: { type: "rule", color: DIM, strokeDash: [3, 3] }, encoding: { y: { datum: 0, ...y } } } as const] : []),
    ],
    config: {
      font: "system-ui, sans-serif",
      view: { stroke: null },
      legend: { labelColor: FORE, labelFontSize: 13 },
      axis: { labelColor: FORE, titleColor: DIM, gridColor: LINE, domainColor: LINE, tickColor: LINE, labelFontSize: 12 },
    },
  } as TopLevelSpec;
}

/** The picture of a paper's curves. */
export function Curves({ picture }: { picture: Picture }) {
  const spec = useCallback((width: number) => specifyCurves(picture, width), [picture]);
  return <Drawn caption={picture.caption} label={picture.label} described={spec} />;
}
