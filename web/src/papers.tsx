import { useEffect, useMemo, useState } from "preact/hooks";
import { keepInAddress, useAddress } from "./address";
import { ask, Stopped, stop } from "./engine";
import { textOf, type Picture } from "./figures";
import { sentenceOf } from "./form";
import { Curves } from "./lazy";
import played from "./papers.json";
import { Table } from "./table";

/** A mean of fewer transfers is not drawn. */
const LEAST_TRANSFERS = 20;
const KNOB = "{knob}";
const WAIT_MS = 250;
/** Sizes that are drawn, in bytes. */
const SPAN: [number, number] = [1000, 1e6];

type Paper = (typeof played)[number];

interface Found {
  bytes: number[];
  count: number[];
  mean_s: (number | null)[];
}

const kept = new Map<string, Promise<Found>>();

/**
 * Returns one run of a curve, made once as long as the page lives; one that failed is made again. `{knob}` in the
 * scenario stands for `knob`. Rejects as ask() does.
 */
function run(scenario: object, knob: number, replication: number): Promise<Found> {
  const given = JSON.parse(JSON.stringify(scenario).replaceAll(KNOB, String(knob))) as object;
  const key = `${replication} ${JSON.stringify(given)}`;
  const known = kept.get(key);
  if (known) return known;
  const made = ask<Found>("curve", { ...given, replication });
  kept.set(key, made);
  made.catch(() => kept.delete(key));
  return made;
}

/**
 * Returns the mean response time over the transfers of all runs, s, by size in bytes, where there are transfers enough.
 * The runs have the same bins.
 */
function poolRuns(runs: Found[]): [number, number][] {
  const bytes = runs[0]?.bytes ?? [];
  return bytes.flatMap((size, bin): [number, number][] => {
    const count = runs.reduce((sum, one) => sum + one.count[bin]!, 0);
    const total = runs.reduce((sum, one) => sum + one.count[bin]! * (one.mean_s[bin] ?? 0), 0);
    // A bin is named after its middle; there are five of each decade.
    return count >= LEAST_TRANSFERS ? [[size * 10 ** 0.1, total / count]] : [];
  });
}

/**
 * Returns the picture of a paper's runs, `found` by curve: of means, or of how much shorter they are than those of the
 * curve that the paper names.
 */
function pictureOf(paper: Paper, found: Found[][]): Picture {
  const curves = paper.curves.map(({ name, points }, place) => ({ name, points: poolRuns(found[place] ?? []), printed: points as [number, number][] }));
  const base = curves.find((one) => one.name === paper.against);
  const isShare = base !== undefined;
  const shown = isShare
    ? curves
        .filter((one) => one !== base)
        .map((one) => ({
          ...one,
          points: one.points.flatMap(([bytes, mean]): [number, number][] => {
            const other = base.points.find(([known]) => known === bytes);
            return other ? [[bytes, 1 - mean / other[1]]] : [];
          }),
        }))
    : curves;
  const unit = isShare ? "share" : "seconds";
  const said = shown.map((one) => `${one.name}: ${one.points.map(([bytes, value]) => `${(bytes / 1000).toPrecision(2)} kB ${textOf(value, unit)}`).join(", ")}`);
  return {
    caption: isShare ? `How much shorter than under ${paper.against}, by size` : "Mean response time by size",
    label: said.join("; "),
    unit,
    span: SPAN,
    curves: shown.map((one) => ({ ...one, points: one.points.filter(([bytes]) => bytes >= SPAN[0] && bytes <= SPAN[1]) })),
    ranges: paper.ranges,
  };
}

/** The screen on which two papers' figures are simulated with another threshold. */
export function Papers() {
  const { parameters } = useAddress();
  const [paper, setPaper] = useState<Paper>(() => played.find((one) => one.name === parameters.get("paper")) ?? played[0]!);
  const [knob, setKnob] = useState(() => Math.min(paper.knob.most, Math.max(paper.knob.least, Math.round(Number(parameters.get("threshold") ?? paper.knob.value)) || paper.knob.value)));
  const [found, setFound] = useState<Found[][]>([]);
  const [fault, setFault] = useState("");
  useEffect(() => () => stop(), []);
  useEffect(() => {
    let isOver = false;
    const runs: Found[][] = paper.curves.map(() => []);
    setFault("");
    const begin = () => {
      keepInAddress("papers", new URLSearchParams([["paper", paper.name], ["threshold", String(knob)]]));
      stop(); // runs of another threshold
      for (let replication = 0; replication < paper.replications; replication++)
        paper.curves.forEach(({ scenario }, place) => {
          run(scenario, knob, replication).then(
            (one) => {
              runs[place]!.push(one);
              if (!isOver) setFound([...runs]);
            },
            (error: unknown) => {
              if (!isOver && !(error instanceof Stopped)) setFault(sentenceOf(error));
            },
          );
        });
    };
    const waiting = setTimeout(begin, WAIT_MS);
    return () => {
      isOver = true;
      clearTimeout(waiting);
    };
  }, [paper, knob]);
  const over = found.reduce((sum, one) => sum + one.length, 0);
  const of = paper.replications * paper.curves.length;
  const picture = useMemo(() => pictureOf(paper, found), [paper, found]);
  const take = (next: Paper) => {
    setFound([]);
    setPaper(next);
    setKnob(next.knob.value);
  };
  const turn = (value: number) => {
    setFound([]);
    setKnob(value);
  };
  return (
    <>
      <h1>What if the paper had chosen another threshold?</h1>
      <p class="dim">
        Each figure is simulated here, over the paper’s link and with its traffic. Turn its one knob: the picture is the mean
        of {paper.replications} runs as they come. Crosses and boxes are what the paper prints.
      </p>
      <fieldset>
        <legend>Which paper?</legend>
        <div class="cards papers">
          {played.map((one) => (
            <label class="card" key={one.name}>
              <input type="radio" name="paper" checked={one === paper} onChange={() => take(one)} />
              <b>{one.name}</b>
              <small>
                {one.authors}: {one.title} ({one.source})
              </small>
            </label>
          ))}
        </div>
      </fieldset>
      <h2>{paper.figure}</h2>
      <label class="field knob">
        <span>
          {paper.knob.title}: <b>{knob}</b>
          {knob === paper.knob.value ? ", as in our reading of the paper" : ""}
        </span>
        <input id="knob" type="range" min={paper.knob.least} max={paper.knob.most} step={1} value={knob} onInput={(e) => turn(e.currentTarget.valueAsNumber)} />
      </label>
      <div role="status" class={fault ? "fault" : "hidden"}>
        {fault || (over === of ? "The picture is complete." : "")}
      </div>
      <div class="curves">
        <Curves picture={picture} />
      </div>
      <p class="go">
        <progress max={of} value={over} aria-label="Runs that are over" />
        <span class="dim" id="over">
          {over} of {of} runs
        </span>
      </p>
      <p class="dim">
        Length: {paper.length}. <code>mousehole paper {paper.name} figure 7</code> draws all curves of the figure with their
        intervals, and <code>mousehole paper {paper.name}</code> sets every claim of the paper beside our numbers.
      </p>
      <details>
        <summary>The numbers</summary>
        <Table
          caption={picture.caption}
          columns={["size", ...picture.curves.map((one) => one.name)].map((heading) => ({ heading, is_number: true }))}
          rows={(picture.curves[0]?.points ?? []).map(([bytes]) => [
            `${Math.round(bytes).toLocaleString("en")} B`,
            ...picture.curves.map((one) => textOf(one.points.find(([known]) => known === bytes)?.[1] ?? null, picture.unit)),
          ])}
        />
      </details>
    </>
  );
}
