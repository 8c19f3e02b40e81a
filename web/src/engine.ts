/** The engine in workers: calls wait for a free worker, and all of them can be stopped at once. */

import type { Call, Files, Reading, Reply } from "./calls";
import workerAddress from "./worker.ts?worker&url";

/** A fault in what was asked for, in one sentence. */
export class Refused extends Error {}
/** The calls were stopped. */
export class Stopped extends Error {}

interface Waiting {
  call: Call;
  isSecond: boolean;
  /** Hears how many bytes of the files were read. */
  reading: ((bytes: number) => void) | undefined;
  resolve(bytes: Uint8Array<ArrayBuffer>): void;
  reject(error: Error): void;
}

const MOST_WORKERS = 8;
/** Each worker reads the files of a call by itself; of large ones so few do at once. */
const LARGE_BYTES = 20_000_000;
const MOST_OF_LARGE = 2;
let module: Promise<WebAssembly.Module> | undefined;
let waiting: Waiting[] = [];
let idle: Worker[] = [];
const busy = new Map<Worker, Waiting>();

/** How many runs go on at once. */
export const workers = Math.max(1, Math.min(navigator.hardwareConcurrency || 2, MOST_WORKERS));

/** Compiles the engine from the page's own script. Rejects if it cannot be loaded or this browser cannot compile it. */
async function compileEngine(): Promise<WebAssembly.Module> {
  const { default: text } = await import("virtual:engine");
  const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return WebAssembly.compile(await new Response(stream).arrayBuffer());
}

/**
 * Starts a worker that, like the page, may connect to nothing: one from a blob has the page's policy. Its messages end
 * in finish().
 */
function startWorker(): Worker {
  const address = new URL(workerAddress, import.meta.url).href;
  const blob = new Blob([`import ${JSON.stringify(address)};`], { type: "text/javascript" });
  const place = URL.createObjectURL(blob);
  const worker = new Worker(place, { type: "module" });
  worker.onmessage = (event: MessageEvent<Reply | Reading>) => {
    if (event.data.kind === "reading") busy.get(worker)?.reading?.(event.data.bytes);
    else finish(worker, event.data);
  };
  worker.onerror = (event) => {
    event.preventDefault();
    finish(worker, { kind: "broken", text: event.message || "a worker ended" });
  };
  return worker;
}

/**
 * Ends a worker's call with its reply, and begins what waits. A broken worker is not used again; its call is made once
 * more, before all others, and rejects if it breaks a second one.
 */
function finish(worker: Worker, reply: Reply): void {
  const one = busy.get(worker);
  busy.delete(worker);
  if (reply.kind === "broken") worker.terminate();
  else idle.push(worker);
  if (one && reply.kind === "done") one.resolve(reply.bytes);
  else if (one && reply.kind === "refused") one.reject(new Refused(reply.text));
  else if (one && one.isSecond) one.reject(new Error(reply.kind === "broken" ? reply.text : "no reply"));
  else if (one) waiting.unshift({ ...one, isSecond: true });
  begin();
}

/** Returns how many calls on files, or without them, go on at once. */
export function atOnce(files: Files | undefined): number {
  const bytes = (files?.list ?? []).reduce((sum, one) => sum + one.size, 0);
  return bytes > LARGE_BYTES ? Math.min(workers, MOST_OF_LARGE) : workers;
}

/** Gives waiting calls to workers, in their order, until as many go on as the next one allows; starts workers as needed. */
function begin(): void {
  while (waiting.length > 0 && busy.size < atOnce(waiting[0]!.call.files)) {
    const one = waiting.shift()!;
    const worker = idle.pop() ?? startWorker();
    busy.set(worker, one);
    worker.postMessage(one.call);
  }
}

/** Files with the request by which the engine reads them, and who hears how far it is. */
export interface Source {
  files: Files;
  request: Uint8Array<ArrayBuffer>;
  reading?: (bytes: number) => void;
}

/**
 * Calls a function of the engine with bytes, on files perhaps; resolves with its output. The call waits for a free
 * worker. It rejects with Refused for a fault in what was asked for, with Stopped after stop(), and with another Error
 * if two workers broke over it or the engine does not start here.
 */
export async function call(name: string, input: Uint8Array<ArrayBuffer>, args: number[] = [], source?: Source): Promise<Uint8Array<ArrayBuffer>> {
  module ??= compileEngine().catch((error) => {
    module = undefined; // the next call tries again
    throw error;
  });
  const known = await module;
  const of = source && { files: source.files, request: source.request };
  return new Promise((resolve, reject) => {
    waiting.push({ call: { module: known, name, args, input, ...of }, isSecond: false, reading: source?.reading, resolve, reject });
    begin();
  });
}

/**
 * Calls a function of the engine with JSON; resolves with the JSON that it puts out, whose form nobody checks. Rejects
 * as call() does.
 */
export async function ask<T>(name: string, given: unknown, source?: Source): Promise<T> {
  const bytes = await call(name, new TextEncoder().encode(JSON.stringify(given)), [], source);
  return JSON.parse(new TextDecoder().decode(bytes)) as T;
}

/** Ends every call at once, also those that wait: they reject with Stopped. Workers that are idle stay. */
export function stop(): void {
  const open = [...busy.values(), ...waiting];
  for (const worker of busy.keys()) worker.terminate();
  busy.clear();
  waiting = [];
  for (const one of open) one.reject(new Stopped("stopped"));
}
