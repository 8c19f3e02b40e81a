/** The messages between the page and its workers. */

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

/** A report of progress, sent while files are read, before the reply. */
export interface Reading {
  kind: "reading";
  bytes: number;
}
