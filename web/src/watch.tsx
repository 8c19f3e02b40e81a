import { useEffect, useRef, useState } from "preact/hooks";
import { keepInAddress, useAddress } from "./address";
import { ask, Refused, Stopped } from "./engine";
import { HEIGHT, palette, Player, type Watched } from "./player";

interface Setting {
  rate: number;
  rtt: number;
  buffer: number;
  downloads: number;
  page: number;
  schemes: [string, string];
}

const SCHEMES = ["droptail", "red", "codel", "fq-codel", "cake", "sfd", "sfd(mode=coupled)", "s-sfd", "rio-ps", "shred", "lfp", "pias", "srpt"];
const SECONDS = 20;
const BASE: Setting = { rate: 5, rtt: 40, buffer: 200, downloads: 2, page: 600, schemes: ["droptail", "fq-codel"] };
/** How many times slower than the clock, by the place of the slider. */
const SLOWER = [100, 50, 20, 10, 5, 2, 1];

type Number = "rate" | "rtt" | "buffer" | "downloads" | "page";
const SLIDERS: { name: Number; title: string; unit: string; min: number; max: number; step: number }[] = [
  { name: "rate", title: "Rate of the line", unit: "Mb/s", min: 1, max: 20, step: 0.5 },
  { name: "rtt", title: "Round-trip time", unit: "ms", min: 5, max: 300, step: 5 },
  { name: "buffer", title: "Buffer", unit: "packets", min: 10, max: 500, step: 10 },
  { name: "downloads", title: "Downloads", unit: "at once", min: 0, max: 10, step: 1 },
  { name: "page", title: "Size of a page", unit: "kB", min: 20, max: 3000, step: 20 },
];

/** Returns the setting that an address holds; what it does not name, or is out of range, is as in `BASE`. */
function settingOf(parameters: URLSearchParams): Setting {
  const found: Setting = { ...BASE, schemes: [parameters.get("left") ?? BASE.schemes[0], parameters.get("right") ?? BASE.schemes[1]] };
  for (const { name, min, max } of SLIDERS) {
    const given = globalThis.Number(parameters.get(name) ?? BASE[name]);
    if (given >= min && given <= max) found[name] = given;
  }
  return found;
}

/** Returns what the engine is asked for: `Watch` in `web/engine/src/watch.rs`. */
function asked(setting: Setting, scheme: string) {
  return {
    scheme,
    rate: `${setting.rate}mbit`,
    rtt: `${setting.rtt}ms`,
    buffer: `${setting.buffer}p`,
    downloads: setting.downloads,
    page_bytes: setting.page * 1000,
    seconds: SECONDS,
  };
}

/** Returns a time as text; a dash for none. */
function timeText(seconds: number | null): string {
  if (seconds === null) return "—";
  return seconds < 1 ? `${Math.round(seconds * 1000)} ms` : `${seconds.toFixed(1)} s`;
}

/** Returns the mean time of the pages that came, and how many of them did if not all. */
function pagesText(watched: Watched): string {
  const known = watched.page_s.filter((one): one is number => one !== null);
  if (known.length === 0) return "none came";
  const mean = known.reduce((sum, one) => sum + one, 0) / known.length;
  return `${timeText(mean)}${known.length < watched.page_s.length ? ` (${known.length} of ${watched.page_s.length})` : ""}`;
}

/** What users feel under a scheme. */
function Felt({ watched, scheme }: { watched: Watched; scheme: string }) {
  return (
    <div class="felt" aria-label={`What users feel under ${scheme}`} role="group">
      <div class="is-call">
        call’s delay, p95 <b>{timeText(watched.call_delay_p95_s)}</b>
        {watched.call_lost ? `${(100 * watched.call_lost).toFixed(1)} % lost` : "none lost"}
      </div>
      <div class="is-page">
        a page takes <b>{pagesText(watched)}</b>on average
      </div>
      <div class="is-bulk">
        downloads get <b>{(watched.download_bps / 1e6).toFixed(1)} Mb/s</b>together
      </div>
    </div>
  );
}

/** The screen on which one link is watched under two schemes, packet by packet. */
export function Watching() {
  const { parameters } = useAddress();
  const [setting, setSetting] = useState(() => settingOf(parameters));
  const [players, setPlayers] = useState<[Player, Player]>();
  const [fault, setFault] = useState("");
  const [playing, setPlaying] = useState(() => !matchMedia("(prefers-reduced-motion: reduce)").matches);
  const [speed, setSpeed] = useState(3);
  const canvases = [useRef<HTMLCanvasElement>(null), useRef<HTMLCanvasElement>(null)] as const;
  const scrubber = useRef<HTMLInputElement>(null);
  const clock = useRef(2);
  const frames = useRef<number[]>([]);

  useEffect(() => {
    const isDefault = JSON.stringify(setting) === JSON.stringify(BASE);
    const values = SLIDERS.map(({ name }): [string, string] => [name, String(setting[name])]);
    if (!isDefault) keepInAddress("watch", new URLSearchParams([["left", setting.schemes[0]], ["right", setting.schemes[1]], ...values]));
    let isCurrent = true;
    const wait = setTimeout(() => {
      Promise.all(setting.schemes.map((scheme) => ask<Watched>("watch", asked(setting, scheme)))).then(
        ([left, right]) => {
          if (!isCurrent) return;
          setFault("");
          setPlayers([new Player(left!), new Player(right!)]);
        },
        (error: unknown) => {
          if (isCurrent && !(error instanceof Stopped)) setFault(error instanceof Refused ? error.message : `The simulator broke: ${String(error)}`);
        },
      );
    }, 150);
    return () => {
      isCurrent = false;
      clearTimeout(wait);
    };
  }, [setting]);

  const draw = () => {
    if (!players) return;
    const colours = palette();
    const most = Math.max(players[0].most_delay_s, players[1].most_delay_s);
    canvases.forEach((canvas, side) => canvas.current && players[side as 0 | 1].draw(canvas.current, clock.current, most, colours));
    if (scrubber.current) {
      scrubber.current.value = String(clock.current);
      scrubber.current.setAttribute("aria-valuetext", `${clock.current.toFixed(2)} seconds`);
    }
  };

  useEffect(() => {
    if (!players) return;
    draw();
    const seen = new ResizeObserver(draw);
    canvases.forEach((canvas) => canvas.current && seen.observe(canvas.current));
    const dark = matchMedia("(prefers-color-scheme: dark)");
    dark.addEventListener("change", draw);
    let frame = 0;
    let before: number | undefined;
    const tick = (now: number) => {
      const passed = before === undefined ? 0 : (now - before) / 1000;
      before = now;
      frames.current = [...frames.current.slice(-119), passed];
      clock.current = (clock.current + Math.min(passed, 0.1) / SLOWER[speed]!) % SECONDS;
      draw();
      frame = requestAnimationFrame(tick);
    };
    if (playing) frame = requestAnimationFrame(tick);
    return () => {
      cancelAnimationFrame(frame);
      seen.disconnect();
      dark.removeEventListener("change", draw);
    };
  }, [players, playing, speed]);

  const setScheme = (side: number, scheme: string) =>
    setSetting((known) => ({ ...known, schemes: side === 0 ? [scheme, known.schemes[1]] : [known.schemes[0], scheme] }));
  return (
    <>
      <h1>Watch the queue</h1>
      <p class="dim">
        One line, twice: the same call, pages and downloads under two schemes. Every dot is a packet that the simulator’s
        engine handled, where it was at that moment.
      </p>
      <ul class="legend">
        <li class="is-call">
          <i />a call
        </li>
        <li class="is-page">
          <i />a page, every 4 s
        </li>
        <li>
          <i />downloads
        </li>
        <li>× dropped; red rim: marked as less important</li>
      </ul>
      {fault && (
        <p class="fault" role="alert">
          {fault}
        </p>
      )}
      <div class="lanes">
        {setting.schemes.map((scheme, side) => (
          <section class="lane" key={side} aria-label={`Under ${scheme}`}>
            <label class="choice">
              <span class="hidden">{side === 0 ? "Scheme on the left" : "Scheme on the right"}</span>
              <select value={scheme} onChange={(e) => setScheme(side, e.currentTarget.value)}>
                {(SCHEMES.includes(scheme) ? SCHEMES : [scheme, ...SCHEMES]).map((one) => (
                  <option key={one}>{one}</option>
                ))}
              </select>
            </label>
            <canvas
              ref={canvases[side as 0 | 1]}
              style={`height:${HEIGHT}px`}
              role="img"
              aria-label={`The queue under ${scheme}, packet by packet, and how long each waited; the numbers below say what users feel`}
            />
            {players && <Felt watched={players[side as 0 | 1].watched} scheme={scheme} />}
          </section>
        ))}
      </div>
      <div class="go">
        <button class="main" type="button" onClick={() => setPlaying(!playing)}>
          {playing ? "Pause" : "Play"}
        </button>
        <label class="field time">
          <span>Moment</span>
          <input
            ref={scrubber}
            type="range"
            min={0}
            max={SECONDS}
            step={0.01}
            onInput={(e) => {
              clock.current = e.currentTarget.valueAsNumber;
              draw();
            }}
          />
        </label>
        <label class="field">
          <span>{SLOWER[speed] === 1 ? "As fast as it was" : `${SLOWER[speed]} times slower`}</span>
          <input type="range" min={0} max={SLOWER.length - 1} step={1} value={speed} onInput={(e) => setSpeed(e.currentTarget.valueAsNumber)} />
        </label>
      </div>
      <fieldset>
        <legend>Change it</legend>
        <div class="row sliders">
          {SLIDERS.map(({ name, title, unit, min, max, step }) => (
            <label class="field" key={name}>
              <span>
                {title}: {setting[name]} {unit}
              </span>
              <input type="range" min={min} max={max} step={step} value={setting[name]} onInput={(e) => setSetting({ ...setting, [name]: e.currentTarget.valueAsNumber })} />
            </label>
          ))}
        </div>
      </fieldset>
    </>
  );
}
