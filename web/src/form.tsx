import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { AnswerView } from "./answer";
import { compare, type Account, type Answer, type Choices, type Chosen, type Request } from "./compare";
import { atOnce, Refused, Stopped, stop, workers } from "./engine";
import { charts } from "./lazy";

/** The parts that the screens' forms share: rates, the queue, the simulation and its outcome. */

const MODEM_SHAPE = "95%";

/** Returns the number of Mb/s of a rate such as `20mbit`; the rate itself where it is written otherwise. */
function mbitOf(rate: string): string {
  return /^([\d.]+)mbit$/.exec(rate)?.[1] ?? rate;
}

/** Returns the rate that is meant by the text of a field: a bare number is in Mb/s. */
function rateOf(text: string): string {
  return /^[\d.]+$/.test(text) ? `${text}mbit` : text;
}

type State =
  | { is: "asking" }
  | { is: "running"; over: number; of: number; at_once: number }
  | { is: "refused"; text: string }
  | { is: "answered"; request: Request; answer: Answer; account: Account | undefined; seconds: number };

export interface Comparing {
  state: State;
  isRunning: boolean;
  /** Runs a comparison, of files perhaps, of which `account` says what was understood. */
  go(request: Request, chosen?: Chosen, account?: Account): Promise<void>;
  /** Discards the result. */
  forget(): void;
}

/** Returns a sentence for whatever ended a call, other than that it was stopped. */
export function sentenceOf(error: unknown): string {
  if (error instanceof Refused) return error.message;
  return `The simulator broke: ${error instanceof Error ? error.message : String(error)}. Please report this with the address of this page.`;
}

/**
 * Runs comparisons, and stores the result of the last one; one that was stopped leaves none. Every call is stopped when
 * the component goes.
 */
export function useComparison(): Comparing {
  const [state, setState] = useState<State>({ is: "asking" });
  useEffect(() => () => stop(), []);
  const go = async (request: Request, chosen?: Chosen, account?: Account) => {
    const since = performance.now();
    void charts().catch(() => undefined); // it is there when the answer is; where it fails, the charts say so
    const at_once = chosen ? atOnce({ key: "", list: chosen.list }) : workers;
    setState({ is: "running", over: 0, of: 1, at_once });
    try {
      const answer = await compare(request, (over, of) => setState({ is: "running", over, of, at_once }), chosen);
      setState({ is: "answered", request, answer, account, seconds: (performance.now() - since) / 1000 });
    } catch (error) {
      setState(error instanceof Stopped ? { is: "asking" } : { is: "refused", text: sentenceOf(error) });
    }
  };
  return { state, isRunning: state.is === "running", go, forget: () => setState({ is: "asking" }) };
}

interface Part {
  request: Request;
  choices: Choices;
  isDisabled: boolean;
  change(changes: Partial<Request>): void;
}

/** The rates of the line; `children` are further fields beside them. */
export function Rates({ request, isDisabled, change, children }: Part & { children?: ComponentChildren }) {
  const rate = (name: "down" | "up", title: string) => (
    <label class="field">
      <span>{title}</span>
      <input type="text" inputMode="decimal" value={mbitOf(request[name])} onInput={(e) => change({ [name]: rateOf(e.currentTarget.value.trim()) })} />
    </label>
  );
  return (
    <fieldset disabled={isDisabled}>
      <legend>How fast is it?</legend>
      <div class="row">
        {rate("down", "Download, Mb/s")}
        {rate("up", "Upload, Mb/s")}
        {children}
      </div>
    </fieldset>
  );
}

/** The load, for traffic that can be made more. */
export function Load({ request, change, title }: Pick<Part, "request" | "change"> & { title: string }) {
  return (
    <label class="field">
      <span>{title}</span>
      <input
        type="number"
        min={0.05}
        max={2}
        step={0.05}
        placeholder="its own"
        value={request.load ?? ""}
        onInput={(e) => change({ load: Number.isNaN(e.currentTarget.valueAsNumber) ? null : e.currentTarget.valueAsNumber })}
      />
    </label>
  );
}

/** The fields of the queue: its position and its settings. */
export function Queue({ request, isDisabled, change }: Part) {
  const text = (name: "shape" | "modem_buffer" | "buffer" | "rtt", title: string, set: (value: string) => Partial<Request>) => (
    <label class="field">
      <span>{title}</span>
      <input type="text" value={request[name] ?? ""} onInput={(e) => change(set(e.currentTarget.value))} />
    </label>
  );
  return (
    <fieldset disabled={isDisabled}>
      <legend>Where is the queue?</legend>
      <label class="choice">
        <input type="radio" name="modem" checked={request.shape === null} onChange={() => change({ shape: null, modem_buffer: null })} />
        <span>In a router at the line itself.</span>
      </label>
      <label class="choice">
        <input type="radio" name="modem" checked={request.shape !== null} onChange={() => change({ shape: MODEM_SHAPE, modem_buffer: "200ms" })} />
        <span>In a modem or at the provider, which nobody can change; a router before it sends a little slower.</span>
      </label>
      <div class="row">
        {request.shape !== null && text("shape", "The router sends at", (shape) => ({ shape }))}
        {request.shape !== null && text("modem_buffer", "The modem buffers", (value) => ({ modem_buffer: value || null }))}
        {text("buffer", "Buffer of the queue", (buffer) => ({ buffer }))}
        {text("rtt", "Round-trip time", (rtt) => ({ rtt }))}
      </div>
    </fieldset>
  );
}

/** The fields of the simulation: its size and the schemes. */
export function Simulated({ request, choices, isDisabled, change }: Part) {
  return (
    <fieldset disabled={isDisabled}>
      <legend>What is simulated</legend>
      <div class="row">
        <label class="field">
          <span>Replications</span>
          <input type="number" min={1} max={choices.most.seeds} value={request.seeds} onInput={(e) => change({ seeds: Math.round(e.currentTarget.valueAsNumber) || 1 })} />
        </label>
        <label class="field">
          <span>Length of each</span>
          <input type="text" value={request.duration} onInput={(e) => change({ duration: e.currentTarget.value })} />
        </label>
        <label class="field wide">
          <span>Schemes</span>
          <input
            type="text"
            value={request.schemes.join(", ")}
            placeholder="those that suit the line"
            onInput={(e) => change({ schemes: e.currentTarget.value.split(/,(?![^(]*\))/).map((one) => one.trim()).filter((one) => one) })}
          />
        </label>
      </div>
    </fieldset>
  );
}

/** The start button, and the progress. */
export function Go({ state }: { state: State }) {
  const isRunning = state.is === "running";
  return (
    <div class="go">
      <button class="main" type="submit" disabled={isRunning}>
        {isRunning ? "Simulating…" : "Compare"}
      </button>
      {isRunning && (
        <>
          <button type="button" onClick={stop}>
            Stop
          </button>
          <progress max={state.of} value={state.over} aria-label="Runs that are over" />
          <span class="dim">
            {state.over} of {state.of} runs, {state.at_once} at once
          </span>
        </>
      )}
    </div>
  );
}

/** What came of a comparison: a fault, or the answer, which takes the focus. */
export function Outcome({ state, choices }: { state: State; choices: Choices }) {
  const answered = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (state.is === "answered") answered.current?.querySelector<HTMLElement>("#verdict")?.focus();
  }, [state]);
  return (
    <>
      <div role="status" class={state.is === "refused" ? "fault" : "hidden"}>
        {state.is === "refused" ? state.text : state.is === "answered" ? "The answer is there." : ""}
      </div>
      {state.is === "answered" && (
        <div ref={answered}>
          <AnswerView answer={state.answer} request={state.request} account={state.account} choices={choices} />
          <p class="dim" id="took">
            Simulated in {state.seconds.toFixed(1)} s in this browser.
          </p>
        </div>
      )}
    </>
  );
}
