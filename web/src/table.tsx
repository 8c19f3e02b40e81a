import type { ComponentChildren } from "preact";

/** A cell: its text, what its column is sorted by if not by that, and how it is coloured. */
export interface Cell {
  text: ComponentChildren;
  value?: number | null;
  tone?: string;
}

/** A table in a box that scrolls; in files, the script of reports lets readers sort it. The first cell of a row is its heading. */
export function Table({ caption, heads, rows }: { caption: string; heads: string[]; rows: (string | Cell)[][] }) {
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label={caption}>
      <table class="sortable">
        <caption>
          <span>{caption}</span>
        </caption>
        <thead>
          <tr>
            {heads.map((head) => (
              <th scope="col" key={head}>
                {head}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map(([head, ...cells], row) => (
            <tr key={row}>
              <th scope="row">{typeof head === "object" ? head.text : head}</th>
              {cells.map((one, place) => {
                if (typeof one === "string") return <td key={place}>{one}</td>;
                return (
                  <td key={place} class={one.tone} data-value={one.value === null ? "" : one.value}>
                    {one.text}
                  </td>
                );
              })}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
