import { lazyChart } from "./lazy";
import { commandOf, type Answer, type Request } from "./compare";
import { Copied } from "./copied";
import { save } from "./files";

const INSTALL = /^(Install on [^:]+): ?/;

/** Tells the sentences of the answer from the commands behind them. */
function parted(lines: string[]): { lead: string; classes: string[] } {
  const end = lines.findIndex((line) => INSTALL.test(line));
  const [lead = "", ...classes] = end < 0 ? lines : lines.slice(0, end);
  return { lead, classes };
}

/** Joins the pictures of the page into one file. */
function picture(): string {
  const charts = [...document.querySelectorAll<SVGElement>(".charts figure")];
  let height = 10;
  const parts = charts.map((figure) => {
    const svg = figure.querySelector("svg")!;
    const title = figure.querySelector("figcaption")!.textContent!.replace(/&/g, "&amp;").replace(/</g, "&lt;");
    const part = `<text x="10" y="${height + 14}" font-family="sans-serif" font-size="14">${title}</text><g transform="translate(10 ${height + 22})">${svg.innerHTML}</g>`;
    height += Number(svg.getAttribute("height")) + 40;
    return part;
  });
  const width = 20 + Math.max(0, ...charts.map((one) => Number(one.querySelector("svg")!.getAttribute("width"))));
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}">${parts.join("")}</svg>`;
}

/** What to install, a line for each class, the charts, how sure it is, and all of it to take along. */
export function AnswerView({ answer, request, base }: { answer: Answer; request: Request; base: Request }) {
  const { lead, classes } = parted(answer.lines);
  const command = commandOf(request, base);
  const json = JSON.stringify({ request, answer }, null, 1);
  return (
    <section aria-label="The answer">
      <div class={answer.outcome === "recommended" ? "verdict good" : "verdict"} tabIndex={-1} id="verdict">
        <p class="dim">
          {answer.label} over {request.down} down, {request.up} up
        </p>
        <p class="lead">{lead}</p>
        <ul class="classes">
          {classes.map((line) => (
            <li key={line}>{line}</li>
          ))}
        </ul>
      </div>
      {answer.commands.length > 0 && (
        <>
          <h2>Install {answer.scheme}</h2>
          <Copied text={answer.commands.join("\n")} what="the commands" />
        </>
      )}
      <h2>What each class of users feels</h2>
      <p class="dim">
        A point is the mean over {request.seeds} replications, its bar the 95 % interval. The dashed line is the first
        scheme, {answer.schemes[0]}: what is there today. Circle: better than it; triangle: worse; square: no difference shown.
      </p>
      <div class="charts">
        {answer.figures.map((figure) => lazyChart(figure, answer.scheme))}
      </div>
      <details>
        <summary>The numbers</summary>
        <div class="scroll">
          <table>
            <thead>
              <tr>
                <th scope="col">Scheme</th>
                {answer.figures.map((figure) => (
                  <th scope="col" key={figure.name}>
                    {figure.words}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {answer.schemes.map((scheme, row) => (
                <tr key={scheme}>
                  <th scope="row">{scheme}</th>
                  {answer.figures.map(({ name, values }) => {
                    const one = values[row]!;
                    return (
                      <td key={name} class={one.verdict > 0 ? "better" : one.verdict < 0 ? "worse" : ""}>
                        {one.text}
                        {one.change && <small> {one.change}</small>}
                      </td>
                    );
                  })}
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      </details>
      <details>
        <summary>Every scheme, in a sentence</summary>
        <ul class="classes">
          {answer.findings
            .filter((one) => !one.exploratory)
            .map((one) => (
              <li key={one.sentence}>{one.sentence}</li>
            ))}
        </ul>
      </details>
      <h2>Take it along</h2>
      <p>The address of this page holds the scenario; whoever opens it gets the same numbers. So does this command:</p>
      <Copied text={command} what="the command" />
      <p class="go">
        <button type="button" onClick={() => void navigator.clipboard.writeText(location.href)}>
          Copy the address
        </button>
        <button type="button" onClick={() => save("mousehole.json", "application/json", json)}>
          Save the numbers (JSON)
        </button>
        <button type="button" onClick={() => save("mousehole.svg", "image/svg+xml", picture())}>
          Save the charts (SVG)
        </button>
      </p>
    </section>
  );
}
