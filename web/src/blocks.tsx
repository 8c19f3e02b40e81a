/** The tables and texts of the command's report, as `answer/src/report/blocks.rs` makes them. */

import { Table, type Cell, type Column } from "./table";

export type Block =
  | { kind: "prose"; text: string; tone: string }
  | { kind: "facts"; pairs: [string, string][]; title: string; tones: string[] }
  | { kind: "table"; caption: string; columns: Column[]; rows: (string | Cell)[][]; ends: string; note: string }
  | { kind: "details"; summary: string; blocks: Block[]; is_open: boolean };

/** The parts of the report of a cell. */
export interface Report {
  overview: Block[];
  verdicts: Block[];
  applications: Block[];
  tables: Block[];
}

/** Shows blocks one after the other. */
export function Blocks({ blocks }: { blocks: Block[] }) {
  return (
    <>
      {blocks.map((block, place) => (
        <One key={place} block={block} />
      ))}
    </>
  );
}

/** Shows one block by its kind. */
function One({ block }: { block: Block }) {
  switch (block.kind) {
    case "prose":
      return <p class={block.tone}>{block.text}</p>;
    case "facts":
      return (
        <>
          <p class="facts">
            <strong>{block.title}</strong>
          </p>
          <dl>
            {block.pairs.map(([name, value], place) => [<dt class={block.tones[place]}>{name}</dt>, <dd>{value}</dd>])}
          </dl>
        </>
      );
    case "table":
      return (
        <>
          <Table caption={block.caption} columns={block.columns} rows={block.rows} />
          {(block.ends || block.note) && <p class="dim">{`${block.ends} ${block.note}`.trim()}</p>}
        </>
      );
    case "details":
      return (
        <details open={block.is_open}>
          <summary>{block.summary}</summary>
          <Blocks blocks={block.blocks} />
        </details>
      );
  }
}
