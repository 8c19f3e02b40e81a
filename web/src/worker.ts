/** Runs the engine: one call at a time, in a separate thread. */

import type { Call, Files, Reading, Reply } from "./calls";

interface Exports {
  memory: WebAssembly.Memory;
  start(): void;
  input(bytes: number): number;
  output(): number;
  output_bytes(): number;
  [name: string]: unknown;
}

let engine: Exports | undefined;
/** The files that the engine has read, or reads, and how far it is in each. */
let files: Files | undefined;
let places: number[] = [];
const SAY_BYTES = 4_000_000;

/**
 * Puts the next `bytes` bytes of a file at `place` in the engine's memory; the engine asks for them, and holds no file
 * as a whole. Returns how many it put there, 0 at the end of the file, -1 if it cannot be read. Posts the bytes of all
 * files so far to the page about every 4 MB.
 */
function read(number: number, place: number, bytes: number): number {
  const from = places[number]!;
  try {
    const piece = new Uint8Array(new FileReaderSync().readAsArrayBuffer(files!.list[number]!.slice(from, from + bytes)));
    new Uint8Array(engine!.memory.buffer, place, bytes).set(piece);
    places[number] = from + piece.length;
    const all = places.reduce((sum, one) => sum + one, 0);
    if (Math.floor(all / SAY_BYTES) > Math.floor((all - piece.length) / SAY_BYTES))
      self.postMessage({ kind: "reading", bytes: all } satisfies Reading);
    return piece.length;
  } catch {
    return -1;
  }
}

/** Returns a copy of the engine's output. */
function output(exports: Exports): Uint8Array<ArrayBuffer> {
  return new Uint8Array(exports.memory.buffer as ArrayBuffer, exports.output(), exports.output_bytes()).slice();
}

/**
 * Makes a call and resolves with the reply to it. At the first one, and after a trap, the engine is made anew; it reads
 * the files of a call first, unless it has read those with the same key. Rejects if the engine cannot be made.
 */
async function call(one: Call): Promise<Reply> {
  if (!engine) {
    engine = (await WebAssembly.instantiate(one.module, { page: { read } })).exports as unknown as Exports;
    engine.start();
    files = undefined;
  }
  const exports = engine;
  const text = (bytes: Uint8Array) => new TextDecoder().decode(bytes);
  const run = (name: string, input: Uint8Array, args: number[]): boolean => {
    // The memory may move while room is made.
    const place = exports.input(input.byteLength);
    new Uint8Array(exports.memory.buffer, place, input.byteLength).set(input);
    return (exports[name] as (...args: number[]) => number)(...args) !== 0;
  };
  try {
    if (one.files && one.files.key !== files?.key) {
      files = one.files;
      places = files.list.map(() => 0);
      if (run("open", one.request ?? one.input, [])) {
        files = undefined;
        return { kind: "refused", text: text(output(exports)) };
      }
    }
    const isFault = run(one.name, one.input, one.args);
    const bytes = output(exports);
    return isFault ? { kind: "refused", text: text(bytes) } : { kind: "done", bytes };
  } catch (error) {
    // A trap leaves the engine in no state to go on.
    engine = undefined;
    return { kind: "broken", text: text(output(exports)) || String(error) };
  }
}

self.onmessage = (event: MessageEvent<Call>) => {
  call(event.data).then(
    (reply) => self.postMessage(reply, { transfer: reply.kind === "done" ? [reply.bytes.buffer] : [] }),
    (error: unknown) => self.postMessage({ kind: "broken", text: String(error) } satisfies Reply),
  );
};
