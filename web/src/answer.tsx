import { useState } from "preact/hooks";
import { Blocks } from "./blocks";
import { commandOf, titleOf, type Account, type Answer, type Choices, type Document, type Request } from "./compare";
import { Copied } from "./copied";
import { figuresOf } from "./figures";
import { asPng, save } from "./files";
import { lazyChart } from "./lazy";
import { reportOf } from "./report";

const INSTALL = /^(Install on [^:]+): ?/;

/** Separates the sentences of the answer, the first one and the others, from the commands after them, which are left out. */
function splitAnswer(lines: string[]): { lead: string; classes: string[] } {
  const end = lines.findIndex((line) => INSTALL.test(line));
  const [lead = "", ...classes] = end < 0 ? lines : lines.slice(0, end);
  return { lead, classes };
}

/**
 * Returns the charts that the page shows now as one SVG, below each other with their titles, in the page's present
 * colours.
 */
function picture(): string {
  // A chart whose library is not there yet has no picture.
  const charts = [...document.querySelectorAll(".charts figure")].filter((one) => one.querySelector("svg"));
  const style = getComputedStyle(document.documentElement);
  let height = 10;
  const parts = charts.map((figure) => {
    const svg = figure.querySelector("svg")!;
    const title = figure.querySelector("figcaption")!.textContent!.replace(/&/g, "&amp;").replace(/</g, "&lt;");
    const part = `<text x="10" y="${height + 14}" font-family="sans-serif" font-size="14" fill="var(--fore)">${title}</text><g transform="translate(10 ${height + 22})">${svg.innerHTML}</g>`;
    height += Number(svg.getAttribute("height")) + 40;
    return part;
  });
  const width = 20 + Math.max(0, ...charts.map((one) => Number(one.querySelector("svg")!.getAttribute("width"))));
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}">${parts.join("")}</svg>`;
  return svg.replace(/var\((--[\w-]+)\)/g, (_, name: string) => style.getPropertyValue(name).trim());
}

/** The first sentence and a line for each class, as the command's first screen has them. */
export function Verdict({ document, title }: { document: Document; title?: string }) {
  const { advice } = document.cells[0]!;
  // The first sentence says so where something else is played than what was given.
  const isInPlace = document.capture?.is_fitted === true || document.plan.instead_of !== null;
  const played = isInPlace ? advice.lines[0] : undefined;
  const { lead, classes } = splitAnswer(isInPlace ? advice.lines.slice(1) : advice.lines);
  return (
    <div class={`verdict ${advice.outcome === "recommended" ? "good" : "open"}`} tabIndex={-1} id="verdict">
      {title && <p class="dim">{title}</p>}
      {played && <p class="played">{played}</p>}
      <p class="lead">{lead}</p>
      <ul class="classes">
        {classes.map((line) => (
          <li key={line}>{line}</li>
        ))}
      </ul>
    </div>
  );
}

/** The legend of the charts. */
export function Legend({ document, seeds }: { document: Document; seeds: number }) {
  return (
    <p class="dim">
      A point is the mean over {seeds} replications, its bar the 95 % interval. The dashed line is the first scheme,{" "}
      {document.plan.baseline}: what is there today. Circle: better than it; triangle: worse; square: no difference shown.
    </p>
  );
}

/** Sentences as a list. */
export function Sentences({ texts }: { texts: string[] }) {
  return (
    <ul class="classes">
      {texts.map((text) => (
        <li key={text}>{text}</li>
      ))}
    </ul>
  );
}

/** What to install, a line for each class, the charts, how sure it is, and all of it to take along. */
export function AnswerView({ answer, request, account, choices }: { answer: Answer; request: Request; account: Account | undefined; choices: Choices }) {
  const { document, report } = answer;
  const cell = document.cells[0]!;
  const { advice } = cell;
  const figures = figuresOf(cell, choices.quantities);
  const command = commandOf(request, choices.request);
  const commands = advice.installation?.lines ?? [];
  const [said, setSaid] = useState("");
  const saveReport = () =>
    reportOf({ answer, command, figures, account, seeds: request.seeds }).then(
      (text) => {
        save("mousehole.html", "text/html", text);
        setSaid("");
      },
      () => setSaid("The library of charts could not be loaded, so there is no report; try again."),
    );
  return (
    <section aria-label="The answer">
      <Verdict document={document} title={titleOf(document)} />
      {commands.length > 0 && (
        <>
          <h2>Install {advice.scheme}</h2>
          <Copied text={commands.join("\n")} what="the commands" />
        </>
      )}
      <h2>What each class of users feels</h2>
      <Legend document={document} seeds={request.seeds} />
      <div class="charts">{figures.map((figure) => lazyChart(figure, advice.scheme))}</div>
      <details>
        <summary>The numbers</summary>
        <Blocks blocks={[...report.overview, ...report.applications]} />
      </details>
      <details>
        <summary>The verdicts, and who pays</summary>
        <Blocks blocks={report.verdicts} />
      </details>
      <details>
        <summary>All tables</summary>
        <Blocks blocks={report.tables} />
      </details>
      <details>
        <summary>Every scheme, in a sentence</summary>
        <Sentences texts={cell.findings.filter((one) => !one.exploratory).map((one) => one.sentence)} />
      </details>
      <h2>Take it along</h2>
      <p>
        {request.files.length > 0
          ? "The address of this page holds the line, but not the file. This command, beside the file, writes the same numbers with "
          : "The address of this page holds the scenario; whoever opens it gets the same numbers. This command writes the same file with "}
        <code class="word">--json</code>:
      </p>
      <Copied text={command} what="the command" />
      <p class="go">
        <button type="button" onClick={() => void navigator.clipboard.writeText(location.href)}>
          Copy the address
        </button>
        <button type="button" onClick={() => void saveReport()}>
          Save the report (HTML)
        </button>
        <button type="button" onClick={() => save("mousehole.json", "application/json", answer.bytes)}>
          Save the numbers (JSON)
        </button>
        <button type="button" onClick={() => save("mousehole.svg", "image/svg+xml", picture())}>
          Save the charts (SVG)
        </button>
        <button type="button" onClick={() => void asPng(picture()).then((blob) => save("mousehole.png", "image/png", blob))}>
          Save the charts (PNG)
        </button>{" "}
        <span role="status">{said}</span>
      </p>
    </section>
  );
}
