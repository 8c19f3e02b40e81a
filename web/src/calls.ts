/** What the page and its workers tell each other. */

/** Files that a call is about; a worker reads them once, by their key. */
export interface Files {
  key: string;
  list: File[];
}

export interface Call {
  module: WebAssembly.Module;
  name: string;
  args: number[];
  input: Uint8Array<ArrayBuffer>;
  /** With these the engine reads `files` first, for `request` in JSON. */
  files?: Files;
  request?: Uint8Array<ArrayBuffer>;
}

export type Reply =
  | { kind: "done"; bytes: Uint8Array<ArrayBuffer> }
  | { kind: "refused"; text: string }
  | { kind: "broken"; text: string };

/** What comes before the reply while files are read. */
export interface Reading {
  kind: "reading";
  bytes: number;
}
