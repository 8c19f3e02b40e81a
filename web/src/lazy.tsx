import type { ComponentType } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { Figure, Picture } from "./figures";

type Charts = typeof import("./chart");
let loading: Promise<Charts> | undefined;

/** Resolves with the library of charts, which is loaded when the first one asks; after a fault the next one tries anew. */
export function charts(): Promise<Charts> {
  loading ??= import("./chart").catch((error: unknown) => {
    loading = undefined;
    throw error;
  });
  return loading;
}

const AGAIN_MS = 5000;

/** Returns a component of the library of charts. Where that cannot be loaded it says so, and tries again. */
function loadLater<P extends object>(pick: (charts: Charts) => ComponentType<P>): ComponentType<P> {
  let loaded: Charts | undefined;
  return (props: P) => {
    const [state, setState] = useState<"loading" | "failed" | "loaded">("loading");
    // The same props are those of a state of its own; others are another render of what this stands in.
    useEffect(() => {
      if (loaded) return;
      let timer: ReturnType<typeof setTimeout> | undefined;
      let isOver = false;
      const load = () =>
        charts().then(
          (found) => {
            loaded = found;
            if (!isOver) setState("loaded");
          },
          () => {
            if (isOver) return;
            setState("failed");
            timer = setTimeout(load, AGAIN_MS);
          },
        );
      void load();
      return () => {
        isOver = true;
        clearTimeout(timer);
      };
    }, [props]);
    const Known = loaded && pick(loaded);
    if (Known) return <Known {...props} />;
    return (
      <figure style="min-height: 12rem">
        {state === "failed" && <p class="dim" role="status">This chart’s library could not be loaded; the page tries again.</p>}
      </figure>
    );
  };
}

const Chart = loadLater((charts) => charts.Chart);
/** The picture of a paper's curves. */
export const Curves = loadLater<{ picture: Picture }>((charts) => charts.Curves);

/** Returns the chart of a figure. */
export function lazyChart(figure: Figure, chosen: string | null) {
  return <Chart key={figure.name} figure={figure} chosen={chosen} />;
}
