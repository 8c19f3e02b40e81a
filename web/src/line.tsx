import { useEffect, useRef, useState } from "preact/hooks";
import { keepInAddress, useAddress } from "./address";
import { AnswerView } from "./answer";
import { compare, parametersOf, requestOf, type Answer, type Choices, type Request } from "./compare";
import { Refused, Stopped, stop, workers } from "./engine";

const MODEM_SHAPE = "95%";

/** Returns the number of Mb/s of a rate such as `20mbit`; undefined where it is written otherwise. */
function mbitOf(rate: string): string {
  return /^([\d.]+)mbit$/.exec(rate)?.[1] ?? rate;
}

function rateOf(text: string): string {
  return /^[\d.]+$/.test(text) ? `${text}mbit` : text;
}

type State =
  | { is: "asking" }
  | { is: "running"; over: number; of: number; since: number }
  | { is: "refused"; text: string }
  | { is: "answered"; request: Request; answer: Answer; seconds: number };

/** The screen on which users say what their line is, and read what would change. */
export function Line({ choices }: { choices: Choices }) {
  const { parameters } = useAddress();
  const [request, setRequest] = useState<Request>(() => requestOf(parameters, choices.request));
  const [state, setState] = useState<State>({ is: "asking" });
  const answered = useRef<HTMLDivElement>(null);
  useEffect(() => () => stop(), []);
  useEffect(() => {
    if (state.is === "answered") answered.current?.querySelector<HTMLElement>("#verdict")?.focus();
  }, [state]);
  const change = (changes: Partial<Request>) => setRequest((known) => ({ ...known, ...changes }));
  const place = choices.places.find((one) => one.name === request.place);
  const apps = request.apps ?? place?.apps ?? [];
  const share = (name: string) => apps.find(([known]) => known === name)?.[1] ?? 0;
  const setShare = (name: string, value: number) => {
    const others = choices.apps.map(([known]): [string, number] => [known, known === name ? value : share(known)]);
    change({ apps: others.filter(([, own]) => own > 0) });
  };
  const go = async (event: Event) => {
    event.preventDefault();
    const since = performance.now();
    keepInAddress("line", parametersOf(request, choices.request));
    setState({ is: "running", over: 0, of: 1, since });
    try {
      const answer = await compare(request, (over, of) => setState({ is: "running", over, of, since }));
      setState({ is: "answered", request, answer, seconds: (performance.now() - since) / 1000 });
    } catch (error) {
      if (error instanceof Stopped) setState({ is: "asking" });
      else setState({ is: "refused", text: error instanceof Refused ? error.message : `The simulator broke: ${String(error)}. Please report this with the address of this page.` });
    }
  };
  const isRunning = state.is === "running";
  return (
    <>
      <h1>What would a better queue change on your line?</h1>
      <p class="dim">
        A download fills the queue of your line, and calls, games and pages wait behind it. Say what your line is; this page
        simulates your users on it, under what you have and under what you could install.
      </p>
      <form onSubmit={go}>
        <fieldset disabled={isRunning}>
          <legend>Who uses it?</legend>
          <div class="cards">
            {choices.places.map((one) => (
              <label class="card" key={one.name}>
                <input
                  type="radio"
                  name="place"
                  checked={request.place === one.name}
                  onChange={() => change({ place: one.name, users: null, apps: null })}
                />
                <b>{one.name}</b>
                <small>
                  {one.users} users: {one.summary}
                </small>
              </label>
            ))}
          </div>
        </fieldset>
        <fieldset disabled={isRunning}>
          <legend>How fast is it?</legend>
          <div class="row">
            <label class="field">
              <span>Download, Mb/s</span>
              <input type="text" inputMode="decimal" value={mbitOf(request.down)} onInput={(e) => change({ down: rateOf(e.currentTarget.value.trim()) })} />
            </label>
            <label class="field">
              <span>Upload, Mb/s</span>
              <input type="text" inputMode="decimal" value={mbitOf(request.up)} onInput={(e) => change({ up: rateOf(e.currentTarget.value.trim()) })} />
            </label>
            <label class="field">
              <span>Users</span>
              <input
                type="number"
                min={1}
                max={choices.most.users}
                value={request.users ?? place?.users ?? 1}
                onInput={(e) => change({ users: Math.round(e.currentTarget.valueAsNumber) || 1 })}
              />
            </label>
          </div>
        </fieldset>
        <details>
          <summary>What they run, the modem, how long</summary>
          <fieldset disabled={isRunning}>
            <legend>What they run (share of the users)</legend>
            <div class="row sliders">
              {choices.apps.map(([name]) => (
                <label class="field" key={name}>
                  <span>
                    {name}: {Math.round(100 * share(name))} %
                  </span>
                  <input type="range" min={0} max={1} step={0.01} value={share(name)} onInput={(e) => setShare(name, e.currentTarget.valueAsNumber)} />
                </label>
              ))}
            </div>
          </fieldset>
          <fieldset disabled={isRunning}>
            <legend>Where is the queue?</legend>
            <label class="choice">
              <input type="radio" name="modem" checked={request.shape === null} onChange={() => change({ shape: null, modem_buffer: null })} />
              <span>In a router at the line itself.</span>
            </label>
            <label class="choice">
              <input
                type="radio"
                name="modem"
                checked={request.shape !== null}
                onChange={() => change({ shape: MODEM_SHAPE, modem_buffer: "200ms" })}
              />
              <span>In a modem or at the provider, which nobody can change; a router before it sends a little slower.</span>
            </label>
            <div class="row">
              {request.shape !== null && (
                <>
                  <label class="field">
                    <span>The router sends at</span>
                    <input type="text" value={request.shape} onInput={(e) => change({ shape: e.currentTarget.value })} />
                  </label>
                  <label class="field">
                    <span>The modem buffers</span>
                    <input type="text" value={request.modem_buffer ?? ""} onInput={(e) => change({ modem_buffer: e.currentTarget.value || null })} />
                  </label>
                </>
              )}
              <label class="field">
                <span>Buffer of the queue</span>
                <input type="text" value={request.buffer} onInput={(e) => change({ buffer: e.currentTarget.value })} />
              </label>
              <label class="field">
                <span>Round-trip time</span>
                <input type="text" value={request.rtt} onInput={(e) => change({ rtt: e.currentTarget.value })} />
              </label>
            </div>
          </fieldset>
          <fieldset disabled={isRunning}>
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
        </details>
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
                {state.over} of {state.of} runs, {workers} at once
              </span>
            </>
          )}
        </div>
      </form>
      <div role="status" class={state.is === "refused" ? "fault" : "hidden"}>
        {state.is === "refused" ? state.text : state.is === "answered" ? "The answer is there." : ""}
      </div>
      {state.is === "answered" && (
        <div ref={answered}>
          <AnswerView answer={state.answer} request={state.request} choices={choices} />
          <p class="dim" id="took">
            Simulated in {state.seconds.toFixed(1)} s in this browser.
          </p>
        </div>
      )}
    </>
  );
}
