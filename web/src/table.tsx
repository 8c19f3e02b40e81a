/** A cell: its text, what its column is sorted by (null comes last), and how it is coloured. A text alone is sorted by itself. */
export interface Cell {
  text: string;
  value: number | null;
  tone: string;
}

/** A column; numbers stand to the right. */
export interface Column {
  heading: string;
  is_number: boolean;
}

/** A table in a box that scrolls; in files, the script of reports lets readers sort it. The first cell of a row is its heading. */
export function Table({ caption, columns, rows }: { caption: string; columns: Column[]; rows: (string | Cell)[][] }) {
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label={caption}>
      <table class="sortable">
        <caption>
          <span>{caption}</span>
        </caption>
        <thead>
          <tr>
            {columns.map((one) => (
              <th scope="col" key={one.heading} class={side(one)}>
                {one.heading}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map(([head, ...cells], row) => (
            <tr key={row}>
              <th scope="row">{typeof head === "object" ? head.text : head}</th>
              {cells.map((one, place) => {
                const kind = side(columns[place + 1]!);
                if (typeof one === "string") return <td class={kind}>{one}</td>;
                return (
                  <td class={`${kind} ${one.tone}`.trim()} data-value={one.value ?? ""}>
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

/** Returns the class of a column's cells. */
const side = (column: Column) => (column.is_number ? "number" : "");
