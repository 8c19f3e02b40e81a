import type { ComponentType } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { Figure, Picture } from "./figures";

type Charts = typeof import("./chart");
let loaded: Charts | undefined;

/** Returns a component of the library of charts, which is loaded when the first one is shown. */
function later<P extends object>(pick: (charts: Charts) => ComponentType<P>): ComponentType<P> {
  return (props: P) => {
    const [charts, setCharts] = useState(loaded);
    useEffect(() => {
      if (!charts)
        void import("./chart").then((found) => {
          loaded = found;
          setCharts(() => found);
        });
    }, []);
    const Known = charts && pick(charts);
    return Known ? <Known {...props} /> : <figure style="min-height: 12rem" />;
  };
}

const Chart = later((charts) => charts.Chart);
/** The picture of a paper's curves. */
export const Curves = later<{ picture: Picture }>((charts) => charts.Curves);

/** Returns the chart of a figure. */
export function lazyChart(figure: Figure, chosen: string | null) {
  return <Chart key={figure.name} figure={figure} chosen={chosen} />;
}
