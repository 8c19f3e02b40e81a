/** The engine in workers: calls wait for a free worker, and all of them can be stopped at once. */

import type { Call, Reply } from "./calls";
import workerAddress from "./worker.ts?worker&url";

/** A fault in what was asked for, in one sentence. */
export class Refused extends Error {}
/** The calls were stopped. */
export class Stopped extends Error {}

interface Waiting {
  call: Call;
  isSecond: boolean;
  resolve(bytes: Uint8Array<ArrayBuffer>): void;
  reject(error: Error): void;
}

const MOST_WORKERS = 8;
let module: Promise<WebAssembly.Module> | undefined;
let waiting: Waiting[] = [];
let idle: Worker[] = [];
const busy = new Map<Worker, Waiting>();

/** How many runs go on at once. */
export const workers = Math.max(1, Math.min(navigator.hardwareConcurrency || 2, MOST_WORKERS));

async function compiled(): Promise<WebAssembly.Module> {
  const { default: text } = await import("virtual:engine");
  const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return WebAssembly.compile(await new Response(stream).arrayBuffer());
}

/** Returns a worker that, like the page, may connect to nothing: one from a blob has the page's policy. */
function newWorker(): Worker {
  const address = new URL(workerAddress, import.meta.url).href;
  const blob = new Blob([`import ${JSON.stringify(address)};`], { type: "text/javascript" });
  const place = URL.createObjectURL(blob);
  const worker = new Worker(place, { type: "module" });
  worker.onmessage = (event: MessageEvent<Reply>) => finish(worker, event.data);
  worker.onerror = (event) => {
    event.preventDefault();
    finish(worker, { kind: "broken", text: event.message || "a worker ended" });
  };
  return worker;
}

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

function begin(): void {
  while (waiting.length > 0 && busy.size < workers) {
    const one = waiting.shift()!;
    const worker = idle.pop() ?? newWorker();
    busy.set(worker, one);
    worker.postMessage(one.call);
  }
}

/** Calls a function of the engine with bytes; resolves with its output. */
export async function call(name: string, input: Uint8Array<ArrayBuffer>, ...args: number[]): Promise<Uint8Array<ArrayBuffer>> {
  module ??= compiled();
  const known = await module;
  return new Promise((resolve, reject) => {
    waiting.push({ call: { module: known, name, args, input }, isSecond: false, resolve, reject });
    begin();
  });
}

/** Calls a function of the engine with JSON; resolves with the JSON that it puts out. */
export async function ask<T>(name: string, given: unknown, ...args: number[]): Promise<T> {
  const bytes = await call(name, new TextEncoder().encode(JSON.stringify(given)), ...args);
  return JSON.parse(new TextDecoder().decode(bytes)) as T;
}

/** Ends every run at once. */
export function stop(): void {
  const open = [...busy.values(), ...waiting];
  for (const worker of busy.keys()) worker.terminate();
  busy.clear();
  waiting = [];
  for (const one of open) one.reject(new Stopped("stopped"));
}
