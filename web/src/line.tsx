import { useState } from "preact/hooks";
import { keepInAddress, useAddress } from "./address";
import { parametersOf, requestOf, type Choices, type Request } from "./compare";
import { Go, Load, Outcome, Queue, Rates, Simulated, useComparison } from "./form";

/** The screen on which users say what their line is, and read what would change. */
export function Line({ choices }: { choices: Choices }) {
  const { parameters } = useAddress();
  const [request, setRequest] = useState<Request>(() => requestOf(parameters, choices.request));
  const comparing = useComparison();
  const { state, isRunning } = comparing;
  const change = (changes: Partial<Request>) => setRequest((known) => ({ ...known, ...changes }));
  const place = choices.places.find((one) => one.name === request.place);
  const model = choices.models.find(([name]) => name === request.model);
  const apps = request.apps ?? place?.apps ?? [];
  const share = (name: string) => apps.find(([known]) => known === name)?.[1] ?? 0;
  const setShare = (name: string, value: number) => {
    const others = choices.apps.map(([known]): [string, number] => [known, known === name ? value : share(known)]);
    change({ apps: others.filter(([, own]) => own > 0) });
  };
  const setModel = (name: string) =>
    change(name ? { model: name, place: null, users: null, apps: null, load: request.load ?? MODEL_LOAD } : { model: null, place: choices.request.place, load: null });
  const go = (event: Event) => {
    event.preventDefault();
    keepInAddress("line", parametersOf(request, choices.request));
    return comparing.go(request);
  };
  const part = { request, choices, change, isDisabled: isRunning };
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
                  onChange={() => change({ place: one.name, model: null, users: null, apps: null, load: null })}
                />
                <b>{one.name}</b>
                <small>
                  {one.users} users: {one.summary}
                </small>
              </label>
            ))}
          </div>
          <div class="row below">
            <label class="field">
              <span>Or a published model of traffic</span>
              <select id="model" value={request.model ?? ""} onChange={(e) => setModel(e.currentTarget.value)}>
                <option value="">none</option>
                {choices.models.map(([name]) => (
                  <option key={name}>{name}</option>
                ))}
              </select>
            </label>
            {model && <p class="dim beside">{model[1]}</p>}
          </div>
        </fieldset>
        <Rates {...part}>
          {request.model === null && (
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
          )}
          {request.model !== null && <Load {...part} title="Load, share of the rate" />}
        </Rates>
        <details>
          <summary>{request.model === null ? "What they run, the modem, how long" : "The modem, how long"}</summary>
          {request.model === null && (
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
              <div class="row below">
                <Load {...part} title="Load of the pages, share of the rate" />
              </div>
            </fieldset>
          )}
          <Queue {...part} />
          <Simulated {...part} />
        </details>
        <Go state={state} />
      </form>
      <Outcome state={state} choices={choices} />
    </>
  );
}

/** What the field of the load begins with for a model, as most of them have no load of their own. */
const MODEL_LOAD = 0.9;
