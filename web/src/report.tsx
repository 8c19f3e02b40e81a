/** The answer as one file to show to others: with the parts of the page, in the look of the command's reports. */

import { render } from "preact";
import { digest, script } from "virtual:report";
import look from "../../python/mousehole/html/style.css?inline";
import { AccountView } from "./account";
import lookOfAnswers from "./answer.css?inline";
import { Legend, Sentences, Verdict } from "./answer";
import { Blocks } from "./blocks";
import { manifestOf, titleOf, type Account, type Answer } from "./compare";
import { Unbroken } from "./copied";
import { titleOf as titleOfFigure, type Figure } from "./figures";
import { charts } from "./lazy";

export interface Reported {
  answer: Answer;
  /** The command that says the same. */
  command: string;
  figures: Figure[];
  /** What was understood of files. */
  account: Account | undefined;
  seeds: number;
}

/** Width of the charts in the file, on which each is scaled down where there is less. */
const WIDTH = 360;
/** The file runs the script of reports and nothing else, whatever stands in it, and asks for nothing. */
const POLICY = `default-src 'none'; style-src 'unsafe-inline'; script-src '${digest}'; img-src data:; base-uri 'none'; form-action 'none'`;

/** Returns the text of the file; the same answer gives the same text. Rejects where the library of charts is missing. */
export async function reportOf(reported: Reported): Promise<string> {
  const { pictureOf } = await charts();
  const { scheme } = reported.answer.document.cells[0]!.advice;
  const pictures = await Promise.all(reported.figures.map((figure) => pictureOf(figure, scheme, WIDTH)));
  const body = document.createElement("div");
  render(<Report {...reported} pictures={pictures} />, body);
  const title = document.createElement("title");
  title.textContent = titleOf(reported.answer.document);
  const text =
    `<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">` +
    `<meta http-equiv="Content-Security-Policy" content="${POLICY}"><link rel="icon" href="data:,">${escapeText(title.outerHTML)}\n` +
    `<style>${look}\n${lookOfAnswers}</style></head>\n<body>${escapeText(body.innerHTML)}` +
    `<p id="status" class="hidden" role="status"></p>\n<script>${script}</script>\n</body></html>\n`;
  render(null, body);
  return text;
}

/** Returns a text with escapes for invisible characters and those that change its direction. */
function escapeText(text: string): string {
  return text.replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g, (one) => `\\u{${one.charCodeAt(0).toString(16)}}`);
}

/** A command or a document as it is; the script of reports adds a button that copies it. */
function Code({ text, label }: { text: string; label: string }) {
  return (
    <div class="code" role="group" aria-label={label}>
      <pre>
        <Unbroken text={text} />
      </pre>
    </div>
  );
}

/** The content of the file, for an answer with at least one cell; `pictures` are those of `figures` in order. */
function Report({ answer, command, figures, account, seeds, pictures }: Reported & { pictures: { svg: string; label: string }[] }) {
  const { document, report } = answer;
  const { advice, notes, schemes } = document.cells[0]!;
  const { mousehole_version, git_revision } = document.manifest;
  const commands = advice.installation?.lines ?? [];
  return (
    <>
      <header>
        <h1>{titleOf(document)}</h1>
        <p class="dim">
          {schemes.length} schemes compared with common traffic, against {document.plan.baseline}; {seeds} replications of{" "}
          {document.plan.scenario.duration}.
        </p>
      </header>
      <main id="main">
        <Verdict document={document} />
        {commands.length > 0 && (
          <>
            <h2>Install {advice.scheme}</h2>
            <Code text={commands.join("\n")} label="Commands that install it" />
          </>
        )}
        <h2>What each class of users feels</h2>
        <Legend document={document} seeds={seeds} />
        <div class="charts">
          {figures.map((figure, place) => (
            <figure key={figure.name}>
              <figcaption>{titleOfFigure(figure)}</figcaption>
              <div role="img" aria-label={pictures[place]!.label} dangerouslySetInnerHTML={{ __html: pictures[place]!.svg }} />
            </figure>
          ))}
        </div>
        <h2>The numbers</h2>
        <Blocks blocks={[...report.overview, ...report.applications]} />
        <h2>The verdicts</h2>
        <Blocks blocks={report.verdicts} />
        <details>
          <summary>All tables</summary>
          <Blocks blocks={report.tables} />
        </details>
        <h2>What to know of it</h2>
        <Sentences texts={[...notes, ...document.notes]} />
        {account && <AccountView account={account} />}
        <h2>How this was made</h2>
        <p>
          In a browser, by the same engine as the command below, which gives the same numbers on any machine. With{" "}
          <code>--html FILE</code> it writes a longer report with more charts: response times by size, every single replication, the
          link.
        </p>
        <Code text={command} label="The command" />
        <details>
          <summary>The manifest: everything that determines the numbers</summary>
          <Code text={manifestOf(answer)} label="The manifest" />
        </details>
      </main>
      <footer>
        Mousehole {mousehole_version}
        {git_revision && ` (${git_revision})`}
      </footer>
    </>
  );
}
