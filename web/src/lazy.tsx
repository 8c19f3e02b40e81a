import type { ComponentType } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { Figure } from "./figures";

type Props = { figure: Figure; chosen: string | null };
let loaded: ComponentType<Props> | undefined;

/** A chart, whose library is loaded when the first one is shown. */
function Later(props: Props) {
  const [Chart, setChart] = useState<ComponentType<Props> | undefined>(() => loaded);
  useEffect(() => {
    if (!Chart)
      void import("./chart").then((found) => {
        loaded = found.Chart;
        setChart(() => found.Chart);
      });
  }, []);
  return Chart ? <Chart {...props} /> : <figure style="min-height: 12rem" />;
}

/** Returns the chart of a figure. */
export function lazyChart(figure: Figure, chosen: string | null) {
  return <Later key={figure.name} figure={figure} chosen={chosen} />;
}
