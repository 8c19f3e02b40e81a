/** A comparison as the page asks for it: the fields of `Options` in `compare/src/options.rs`. */

import type { Report } from "./blocks";
import { ask, call, type Source } from "./engine";

export interface Request {
  place: string | null;
  model: string | null;
  /** Names of files. */
  files: string[];
  load: number | null;
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
  /** Chosen from sizes and load where it is not given. */
  warmup: string | null;
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
  /** Models of traffic, and what each is. */
  models: [string, string][];
  schemes: string[];
  request: Request;
  /** The largest numbers that may be asked for. */
  most: { users: number; seeds: number; file_bytes: number };
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

/** The result of one scheme against another. */
export interface Finding {
  sentence: string;
  exploratory: boolean;
}

interface Link {
  down: string;
  up: string;
  rtt: string;
  buffer: string;
  shape?: string;
  modem_buffer?: string;
}

/** What the page shows of a document of schema `mousehole.compare/3` (docs/json.md). */
export interface Document {
  label: string;
  manifest: { mousehole_version: string; git_revision: string | null };
  notes: string[];
  plan: { instead_of: string | null; baseline: string; scenario: { duration: string; link: Link } };
  capture: { is_fitted: boolean } | null;
  cells: {
    schemes: {
      scheme: string;
      buckets: (Numbers & { bucket: string; role: string })[];
      groups: (Numbers & { group: string; kind: string | null; what: string; is_primary: boolean })[];
    }[];
    notes: string[];
    findings: Finding[];
    advice: {
      outcome: string;
      scheme: string | null;
      lines: string[];
      installation: { lines: string[] } | null;
    };
  }[];
}

/** A document, its bytes, which are those that the command writes, and the tables of its report. */
export interface Answer {
  document: Document;
  bytes: Uint8Array<ArrayBuffer>;
  report: Report;
}

/** Returns traffic and link in words, as `mousehole compare` begins. */
export function titleOf({ label, plan }: Document): string {
  const { down, up, rtt, shape, modem_buffer, buffer } = plan.scenario.link;
  const shaper = shape ? `, shaped at ${shape} before a modem of ${modem_buffer ?? buffer}` : "";
  return `${label} over ${down === up ? down : `${down} down, ${up} up`}, ${rtt} RTT${shaper}`;
}

/**
 * Returns the manifest as it stands in the document, or nothing if it is not indented so; a number of many digits would
 * lose some by way of an object.
 */
export function manifestOf({ bytes }: Answer): string {
  const text = new TextDecoder().decode(bytes);
  const found = /^ "manifest": (\{$.*?^ \}),?$/ms.exec(text);
  return (found?.[1] ?? "").replace(/^ /gm, "");
}

/** Returns request and runs as one array of bytes, each preceded by its length, as the engine's `document` takes them. */
function packParts(request: Request, runs: Uint8Array[]): Uint8Array<ArrayBuffer> {
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

/** The content of files, as `mousehole inspect` summarises it. */
export interface Account {
  title: string;
  facts: [string, string][];
  remarks: { kind: "skipped" | "faulty" | "note"; text: string }[];
}

let keys = 0;

/** Files that the user chose, with a key that no others have. */
export interface Chosen {
  key: number;
  list: File[];
}

/** Returns files as newly chosen: workers read them again even if they are the same. */
export function choose(list: File[]): Chosen {
  return { key: ++keys, list };
}

/** Returns the request with the names of the chosen files, and without any other traffic. */
export function onFiles(request: Request, chosen: Chosen): Request {
  return { ...request, place: null, model: null, users: null, apps: null, files: chosen.list.map((one) => one.name) };
}

/** Returns what workers read for a request; the seed decides what files leave open, so another seed has them read again. */
export function sourceOf(request: Request, chosen: Chosen, reading?: (bytes: number) => void): Source {
  const files = { key: `${chosen.key} ${request.seed}`, list: chosen.list };
  const source = { files, request: new TextEncoder().encode(JSON.stringify(request)) };
  return reading ? { ...source, reading } : source;
}

/**
 * Runs a comparison, of files perhaps; calls `progress` with the number of finished runs and of all, first with 0. The
 * same request gives the same bytes, in whatever order runs end. Rejects as call() does with the first run that does;
 * the other runs go on, without a call of `progress`.
 */
export async function compare(request: Request, progress: (over: number, of: number) => void, chosen?: Chosen): Promise<Answer> {
  const source = chosen && sourceOf(request, chosen);
  const { schemes } = await ask<{ schemes: string[] }>("check", request, source);
  const input = new TextEncoder().encode(JSON.stringify(request));
  const of = schemes.length * request.seeds;
  let over = 0;
  let isRefused = false;
  progress(over, of);
  const runs: Promise<Uint8Array>[] = [];
  for (let replication = 0; replication < request.seeds; replication++)
    schemes.forEach((_, scheme) => {
      const run = call("run", input, [scheme, replication], source);
      runs.push(
        run.then(
          (bytes) => {
            if (!isRefused) progress(++over, of);
            return bytes;
          },
          (error) => {
            isRefused = true;
            throw error;
          },
        ),
      );
    });
  const both = await call("document", packParts(request, await Promise.all(runs)), [], source);
  const end = 4 + new DataView(both.buffer, both.byteOffset).getUint32(0, true);
  const [bytes, report] = [both.slice(4, end), both.subarray(end)];
  const parsed = (text: Uint8Array): unknown => JSON.parse(new TextDecoder().decode(text));
  return { document: parsed(bytes) as Document, bytes, report: parsed(report) as Report };
}

const OPTIONS = ["users", "apps", "down", "up", "load", "rtt", "buffer", "shape", "modem_buffer", "schemes", "seeds", "duration", "warmup", "seed"] as const;
const ALWAYS = new Set<string>(["down", "up"]);

/** Returns a field as an option's text: a list by commas, a pair by a colon. */
function textOf(value: Request[keyof Request]): string {
  if (!Array.isArray(value)) return String(value);
  return value.map((one) => (Array.isArray(one) ? one.join(":") : one)).join(",");
}

/**
 * Returns the fields that differ from the default request's, and both rates, as text by name; traffic other than its
 * load and users is not among them.
 */
function differing(request: Request, base: Request): [string, string][] {
  const isOwn = (name: (typeof OPTIONS)[number]) =>
    ALWAYS.has(name) || (request[name] !== null && textOf(request[name]) !== textOf(base[name] ?? ""));
  return OPTIONS.filter(isOwn).map((name) => [name, textOf(request[name])]);
}

/** Returns a word, quoted for a POSIX shell if necessary. */
function quoted(text: string): string {
  return /^[\w.,:%+/-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

/** Returns a file's name as an argument that is taken for neither an option nor a model nor a place. */
function argumentOf(name: string): string {
  return quoted(/^[^-:]+\.[^:]+$/.test(name) ? name : `./${name}`);
}

/** Returns the command that inspects files of these names. */
export function inspectCommand(names: string[]): string {
  return ["mousehole inspect", ...names.map(argumentOf)].join(" ");
}

/** Returns the command that makes the same comparison; files are named as if they were in its directory. */
export function commandOf(request: Request, base: Request): string {
  const options = differing(request, base).map(([name, text]) => `--${name.replace("_", "-")} ${quoted(text)}`);
  const named = [request.place, request.model].filter((one) => one !== null).map(quoted);
  return ["mousehole compare", ...named, ...request.files.map(argumentOf), ...options].join(" ");
}

/** Returns the request as the parameters of an address; the files of a request are not among them. */
export function parametersOf(request: Request, base: Request): URLSearchParams {
  const traffic: [string, string][] = request.files.length > 0 ? [] : request.model ? [["model", request.model]] : [["place", request.place ?? ""]];
  return new URLSearchParams([...traffic, ...differing(request, base)]);
}

/**
 * Returns the request that an address holds; what it does not name is as in `base`, or absent. Nothing is checked: a
 * number may be NaN, which the engine refuses.
 */
export function requestOf(parameters: URLSearchParams, base: Request): Request {
  const text = (name: string, other: string) => parameters.get(name) ?? other;
  const number = (name: string, other: number) => Number(parameters.get(name) ?? other);
  const list = (name: string) => (parameters.get(name) ?? "").split(/,(?![^(]*\))/).filter((one) => one !== "");
  const apps = list("apps").map((one): [string, number] => [one.split(":")[0]!, Number(one.split(":")[1] ?? 1)]);
  return {
    ...base,
    place: parameters.has("model") ? null : text("place", base.place ?? "") || null,
    model: parameters.get("model"),
    load: parameters.has("load") ? number("load", 0) : null,
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
    warmup: parameters.get("warmup"),
    seed: parameters.get("seed") ?? base.seed,
  };
}
