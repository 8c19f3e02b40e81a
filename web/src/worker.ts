/** Runs the engine: one call at a time, in a thread of its own. */

import type { Call, Reply } from "./calls";

interface Exports {
  memory: WebAssembly.Memory;
  start(): void;
  input(bytes: number): number;
  output(): number;
  output_bytes(): number;
  [name: string]: unknown;
}

let engine: Exports | undefined;

function output(exports: Exports): Uint8Array<ArrayBuffer> {
  return new Uint8Array(exports.memory.buffer as ArrayBuffer, exports.output(), exports.output_bytes()).slice();
}

async function call(one: Call): Promise<Reply> {
  if (!engine) {
    engine = (await WebAssembly.instantiate(one.module, {})).exports as unknown as Exports;
    engine.start();
  }
  const exports = engine;
  const text = (bytes: Uint8Array) => new TextDecoder().decode(bytes);
  try {
    // The memory may move while room is made.
    const place = exports.input(one.input.byteLength);
    new Uint8Array(exports.memory.buffer, place, one.input.byteLength).set(one.input);
    const run = exports[one.name] as (...args: number[]) => number;
    const isFault = run(...one.args) !== 0;
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
