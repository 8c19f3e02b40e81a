/** Draws what happened in a queue at a moment, and how long packets waited, from the engine's record of each packet. */

export interface Watched {
  arrived_s: number[];
  left_s: number[];
  sent_s: number[];
  app: number[];
  bytes: number[];
  colour: number[];
  dropped: boolean[];
  rate_bps: number;
  seconds: number;
  page_start_s: number[];
  page_s: (number | null)[];
  call_delay_p95_s: number | null;
  call_lost: number | null;
  download_bps: number;
}

/** Colours of the call's, pages' and downloads' packets, and of what surrounds them. */
export interface Palette {
  apps: [string, string, string];
  fore: string;
  dim: string;
  line: string;
  soft: string;
  bad: string;
}

/** Returns the present colours of the page, which follow light and dark. */
export function palette(): Palette {
  const style = getComputedStyle(document.documentElement);
  const named = (name: string) => style.getPropertyValue(name).trim();
  return {
    apps: [named("--call"), named("--page-dot"), named("--bulk")],
    fore: named("--fore"),
    dim: named("--dim"),
    line: named("--line"),
    soft: named("--soft"),
    bad: named("--bad"),
  };
}

/** Returns the next larger number of 1, 2, 3 or 5 tens, hundreds and so on, to a thousandth; `number` is above 0. */
function rounded(number: number): number {
  const scale = 10 ** Math.floor(Math.log10(number));
  return scale * [1, 2, 3, 5, 10].find((one) => one * scale >= number * 0.999)!;
}

const ROWS = 8;
const TOP = 22;
const QUEUE_HEIGHT = 118;
const DELAY_TOP = QUEUE_HEIGHT + 54;
/** Height of a picture in CSS pixels. */
export const HEIGHT = 280;

/** A record with what the drawing of any moment needs. */
export class Player {
  readonly watched: Watched;
  readonly longest_s: number;
  readonly most_delay_s: number;

  /** Takes a record, whose packets are in the order of their arrival; it must not change afterwards. */
  constructor(watched: Watched) {
    this.watched = watched;
    let longest = 0;
    let delay = 0.05;
    watched.arrived_s.forEach((arrived, n) => {
      longest = Math.max(longest, watched.sent_s[n]! - arrived);
      if (!watched.dropped[n] && watched.sent_s[n]! <= watched.seconds) delay = Math.max(delay, watched.left_s[n]! - arrived);
    });
    this.longest_s = longest;
    this.most_delay_s = rounded(delay);
  }

  /** Returns the number of the first packet that arrived after `at`, or that of all packets if none did. */
  after(at: number): number {
    const { arrived_s } = this.watched;
    let [low, high] = [0, arrived_s.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (arrived_s[middle]! <= at) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** Returns the packets that wait or are sent at a moment, in the order in which they leave. */
  present(at: number): number[] {
    const { arrived_s, sent_s, left_s, dropped } = this.watched;
    const found: number[] = [];
    for (let n = this.after(at) - 1; n >= 0 && arrived_s[n]! >= at - this.longest_s; n--) if (sent_s[n]! > at) found.push(n);
    // What will be dropped stands behind what will be sent.
    const order = (n: number) => (dropped[n] ? 1e6 + arrived_s[n]! : left_s[n]!);
    return found.sort((one, other) => order(one) - order(other));
  }

  /**
   * Draws the queue at `at` and the delays, pale after `at`; `most_s` is the top of the axis of delays, above 0. Sets
   * the canvas' size to that on the page.
   */
  draw(canvas: HTMLCanvasElement, at: number, most_s: number, colours: Palette): void {
    const ratio = devicePixelRatio || 1;
    const width = canvas.clientWidth;
    if (canvas.width !== Math.round(width * ratio)) canvas.width = Math.round(width * ratio);
    if (canvas.height !== HEIGHT * ratio) canvas.height = HEIGHT * ratio;
    const pen = canvas.getContext("2d")!;
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    pen.clearRect(0, 0, width, HEIGHT);
    pen.font = "12px system-ui, sans-serif";
    this.drawQueue(pen, width, at, colours);
    this.drawDelays(pen, width, at, most_s, colours);
  }

  /** Draws what waits, as far as there is room, what is on the line, and what was dropped within the last 0.25 s. */
  private drawQueue(pen: CanvasRenderingContext2D, width: number, at: number, colours: Palette): void {
    const { app, bytes, left_s, sent_s, dropped, colour } = this.watched;
    const present = this.present(at);
    const wire = Math.min(90, width * 0.22);
    const head = width - wire;
    const step = Math.min(11, (QUEUE_HEIGHT - TOP - 6) / ROWS);
    pen.fillStyle = colours.soft;
    pen.fillRect(0, TOP, head, ROWS * step + 6);
    pen.strokeStyle = colours.line;
    pen.strokeRect(head, TOP + (ROWS * step) / 2 - 6, wire - 1, 18);
    const waits = present.filter((n) => left_s[n]! > at || dropped[n]);
    pen.fillStyle = colours.dim;
    pen.textAlign = "left";
    pen.fillText(`${waits.length} packets wait`, 0, 14);
    pen.textAlign = "right";
    pen.fillText("the line", width, 14);
    const columns = Math.max(1, Math.floor((head - 6) / step));
    const dot = (n: number, x: number, y: number) => {
      pen.beginPath();
      pen.fillStyle = colours.apps[app[n] as 0 | 1 | 2]!;
      pen.arc(x, y, (step / 2 - 0.8) * (bytes[n]! > 600 ? 1 : 0.72), 0, 2 * Math.PI);
      pen.fill();
      if (colour[n]! > 0 && app[n] === 2) {
        pen.strokeStyle = colours.bad;
        pen.lineWidth = 1;
        pen.stroke();
      }
    };
    waits.slice(0, columns * ROWS).forEach((n, place) => {
      dot(n, head - 3 - step / 2 - Math.floor(place / ROWS) * step, TOP + 3 + step / 2 + (place % ROWS) * step);
    });
    for (const n of present) {
      if (left_s[n]! > at || dropped[n]) continue;
      const share = (at - left_s[n]!) / Math.max(1e-9, sent_s[n]! - left_s[n]!);
      dot(n, head + step / 2 + share * (wire - step), TOP + (ROWS * step) / 2 + 3);
    }
    // What was dropped lately falls out of the queue.
    const fall_s = 0.25;
    for (let n = this.after(at) - 1; n >= 0 && this.watched.arrived_s[n]! > at - this.longest_s - fall_s; n--) {
      const since = at - sent_s[n]!;
      if (!dropped[n] || since < 0 || since > fall_s) continue;
      const x = 10 + (n % 23) * ((head - 20) / 23);
      const y = TOP + ROWS * step + 8 + (since / fall_s) * 14;
      pen.strokeStyle = colours.bad;
      pen.lineWidth = 2;
      pen.beginPath();
      pen.moveTo(x - 3, y - 3);
      pen.lineTo(x + 3, y + 3);
      pen.moveTo(x + 3, y - 3);
      pen.lineTo(x - 3, y + 3);
      pen.stroke();
    }
  }

  /** Draws how long each packet waited by when it arrived, drops below the axis, and a line at `at`. */
  private drawDelays(pen: CanvasRenderingContext2D, width: number, at: number, most_s: number, colours: Palette): void {
    const { arrived_s, left_s, app, dropped, seconds, sent_s } = this.watched;
    const bottom = HEIGHT - 18;
    const left = 54;
    const x = (time: number) => left + (time / seconds) * (width - left - 4);
    const y = (delay: number) => bottom - (delay / most_s) * (bottom - DELAY_TOP);
    pen.fillStyle = colours.dim;
    pen.textAlign = "left";
    pen.fillText("How long each packet waited", 0, DELAY_TOP - 12);
    pen.textAlign = "right";
    pen.strokeStyle = colours.line;
    pen.lineWidth = 1;
    for (const share of [0, 0.5, 1]) {
      pen.beginPath();
      pen.moveTo(left, y(share * most_s));
      pen.lineTo(width, y(share * most_s));
      pen.stroke();
      pen.fillText(`${Math.round(share * most_s * 1000)} ms`, left - 5, y(share * most_s) + 4);
    }
    pen.fillText(`${seconds} s`, width, HEIGHT - 4);
    pen.textAlign = "left";
    pen.fillText("0 s", left, HEIGHT - 4);
    // What is yet to come is pale.
    for (const layer of [2, 1, 0]) {
      pen.fillStyle = colours.apps[layer as 0 | 1 | 2];
      for (let n = 0; n < arrived_s.length; n++) {
        if (app[n] !== layer || dropped[n] || sent_s[n]! > seconds) continue;
        pen.globalAlpha = left_s[n]! > at ? 0.22 : 1;
        pen.fillRect(x(arrived_s[n]!) - 0.75, y(left_s[n]! - arrived_s[n]!) - 0.75, 1.8, 1.8);
      }
    }
    pen.fillStyle = colours.bad;
    for (let n = 0; n < arrived_s.length; n++) {
      if (!dropped[n]) continue;
      pen.globalAlpha = sent_s[n]! > at ? 0.22 : 1;
      pen.fillRect(x(sent_s[n]!) - 0.5, bottom, 1, 4);
    }
    pen.globalAlpha = 1;
    pen.strokeStyle = colours.fore;
    pen.beginPath();
    pen.moveTo(x(at), DELAY_TOP - 4);
    pen.lineTo(x(at), bottom);
    pen.stroke();
  }
}
