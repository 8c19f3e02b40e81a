/** What the page and its workers tell each other. */

export interface Call {
  module: WebAssembly.Module;
  name: string;
  args: number[];
  input: Uint8Array<ArrayBuffer>;
}

export type Reply =
  | { kind: "done"; bytes: Uint8Array<ArrayBuffer> }
  | { kind: "refused"; text: string }
  | { kind: "broken"; text: string };
