/** A comparison as the page asks for it: the fields of `Options` in `compare/src/options.rs`. */

import { ask, call } from "./engine";

export interface Request {
  place: string | null;
  users: number | null;
  apps: [string, number][] | null;
  down: string;
  up: string;
  rtt: string;
  buffer: string;
  shape: string | null;
  modem_buffer: string | null;
  schemes: string[];
  seeds: number;
  duration: string;
  warmup: string;
  /** A text where it comes from the address: a number would lose digits of a large one. */
  seed: number | string;
}

export interface Place {
  name: string;
  summary: string;
  users: number;
  apps: [string, number][];
}

export interface Choices {
  places: Place[];
  apps: [string, number][];
  schemes: string[];
  request: Request;
  /** The largest numbers that may be asked for. */
  most: { users: number; seeds: number };
  quantities: Quantity[];
}

/** A quantity that is measured, as `answer/src/quantities.rs` has it. */
export interface Quantity {
  name: string;
  subject: string;
  words: string;
  unit: string;
  is_less_better: boolean;
}

type Numbers = Record<string, number | null>;

/** What the page shows of a document of schema `mousehole.compare/3` (docs/json.md). */
export interface Document {
  label: string;
  cells: {
    schemes: {
      scheme: string;
      buckets: (Numbers & { bucket: string; role: string })[];
      groups: (Numbers & { group: string; kind: string | null; what: string; is_primary: boolean })[];
    }[];
    findings: { sentence: string; exploratory: boolean }[];
    advice: { outcome: string; scheme: string | null; lines: string[]; installation: { lines: string[] } | null };
  }[];
}

/** A document, and its bytes, which are those that the command writes. */
export interface Answer {
  document: Document;
  bytes: Uint8Array<ArrayBuffer>;
}

/** Returns request and runs in one piece, each after its length. */
function packed(request: Request, runs: Uint8Array[]): Uint8Array<ArrayBuffer> {
  const parts = [new TextEncoder().encode(JSON.stringify(request)), ...runs];
  const bytes = new Uint8Array(parts.reduce((sum, part) => sum + 4 + part.byteLength, 0));
  const view = new DataView(bytes.buffer);
  let at = 0;
  for (const part of parts) {
    view.setUint32(at, part.byteLength, true);
    bytes.set(part, at + 4);
    at += 4 + part.byteLength;
  }
  return bytes;
}

/** Runs a comparison; `progress` hears how many of how many runs are over. */
export async function compare(request: Request, progress: (over: number, of: number) => void): Promise<Answer> {
  const { schemes } = await ask<{ schemes: string[] }>("check", request);
  const input = new TextEncoder().encode(JSON.stringify(request));
  const of = schemes.length * request.seeds;
  let over = 0;
  progress(over, of);
  const runs: Promise<Uint8Array>[] = [];
  for (let replication = 0; replication < request.seeds; replication++)
    schemes.forEach((_, scheme) => {
      const run = call("run", input, scheme, replication);
      runs.push(
        run.then((bytes) => {
          progress(++over, of);
          return bytes;
        }),
      );
    });
  const bytes = await call("document", packed(request, await Promise.all(runs)));
  return { document: JSON.parse(new TextDecoder().decode(bytes)) as Document, bytes };
}

const OPTIONS = ["users", "apps", "down", "up", "rtt", "buffer", "shape", "modem_buffer", "schemes", "seeds", "duration", "warmup", "seed"] as const;
const ALWAYS = new Set<string>(["down", "up"]);

function textOf(value: Request[keyof Request]): string {
  if (!Array.isArray(value)) return String(value);
  return value.map((one) => (Array.isArray(one) ? one.join(":") : one)).join(",");
}

/** Returns the fields that differ from the default request's, as text by name. */
function differing(request: Request, base: Request): [string, string][] {
  const isOwn = (name: (typeof OPTIONS)[number]) =>
    ALWAYS.has(name) || (request[name] !== null && textOf(request[name]) !== textOf(base[name] ?? ""));
  return OPTIONS.filter(isOwn).map((name) => [name, textOf(request[name])]);
}

/** Returns the command that says the same. */
export function commandOf(request: Request, base: Request): string {
  const quoted = (text: string) => (/^[\w.,:%+-]+$/.test(text) ? text : `'${text}'`);
  const options = differing(request, base).map(([name, text]) => `--${name.replace("_", "-")} ${quoted(text)}`);
  return ["mousehole compare", ...(request.place ? [request.place] : []), ...options].join(" ");
}

/** Returns the request as the parameters of an address. */
export function parametersOf(request: Request, base: Request): URLSearchParams {
  return new URLSearchParams([["place", request.place ?? ""], ...differing(request, base)]);
}

/** Returns the request that an address holds; what it does not name is as in `base`. */
export function requestOf(parameters: URLSearchParams, base: Request): Request {
  const text = (name: string, other: string) => parameters.get(name) ?? other;
  const number = (name: string, other: number) => Number(parameters.get(name) ?? other);
  const list = (name: string) => (parameters.get(name) ?? "").split(/,(?![^(]*\))/).filter((one) => one !== "");
  const apps = list("apps").map((one): [string, number] => [one.split(":")[0]!, Number(one.split(":")[1] ?? 1)]);
  return {
    ...base,
    place: text("place", base.place ?? "") || null,
    users: parameters.has("users") ? number("users", 1) : null,
    apps: apps.length > 0 ? apps : null,
    down: text("down", base.down),
    up: text("up", base.up),
    rtt: text("rtt", base.rtt),
    buffer: text("buffer", base.buffer),
    shape: parameters.get("shape"),
    modem_buffer: parameters.get("modem_buffer"),
    schemes: list("schemes"),
    seeds: number("seeds", base.seeds),
    duration: text("duration", base.duration),
    warmup: text("warmup", base.warmup),
    seed: parameters.get("seed") ?? base.seed,
  };
}
