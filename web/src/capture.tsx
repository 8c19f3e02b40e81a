import { useEffect, useState } from "preact/hooks";
import { AccountView } from "./account";
import { keepInAddress, useAddress } from "./address";
import { choose, commandOf, inspectCommand, onFiles, parametersOf, requestOf, sourceOf, type Account, type Choices, type Chosen, type Request } from "./compare";
import { Copied } from "./copied";
import { ask, Stopped } from "./engine";
import { Go, Load, Outcome, Queue, Rates, sentenceOf, Simulated, useComparison } from "./form";

type Read =
  | { is: "nothing" }
  | { is: "large"; chosen: Chosen }
  | { is: "reading"; bytes: number; of: number }
  | { is: "refused"; text: string; chosen: Chosen }
  | { is: "read"; account: Account; chosen: Chosen };

const megabytes = (bytes: number) => `${(bytes / 1e6).toFixed(bytes < 9.95e6 ? 1 : 0)} MB`;
const sizeOf = (list: File[]) => list.reduce((sum, one) => sum + one.size, 0);

/** The screen on which users give what was recorded on their line, read what is in it, and what would change. */
export function Capture({ choices }: { choices: Choices }) {
  const { parameters } = useAddress();
  const [request, setRequest] = useState<Request>(() => ({ ...requestOf(parameters, choices.request), place: null, model: null }));
  const [chosen, setChosen] = useState<Chosen>();
  const [read, setRead] = useState<Read>({ is: "nothing" });
  const comparing = useComparison();
  const { state, isRunning } = comparing;
  const change = (changes: Partial<Request>) => setRequest((known) => ({ ...known, ...changes }));
  const take = (list: File[]) => {
    if (list.length === 0 || isRunning) return;
    comparing.forget();
    const next = choose(list);
    setChosen(next);
    setRead(sizeOf(list) > choices.most.file_bytes ? { is: "large", chosen: next } : { is: "reading", bytes: 0, of: sizeOf(list) });
  };
  const isWanted = chosen !== undefined && read.is !== "large";
  useEffect(() => {
    if (!isWanted) return;
    let isOver = false;
    const own = onFiles(request, chosen);
    const heard = (bytes: number) => {
      if (!isOver) setRead((known) => (known.is === "reading" ? { ...known, bytes } : known));
    };
    const found = (next: Read) => {
      if (!isOver) setRead(next);
    };
    ask<Account>("inspect", own, sourceOf(own, chosen, heard)).then(
      (account) => found({ is: "read", account, chosen }),
      (error: unknown) => found(error instanceof Stopped ? { is: "nothing" } : { is: "refused", text: sentenceOf(error), chosen }),
    );
    return () => {
      isOver = true;
    };
    // The load on the line is that at its rate; a rate that cannot be read is said where it is compared.
  }, [chosen, isWanted, /^[\d.]+[kmg]bit$/.test(request.down) ? request.down : ""]);
  const go = (event: Event) => {
    event.preventDefault();
    if (!chosen) return;
    keepInAddress("capture", parametersOf(onFiles(request, chosen), choices.request));
    return comparing.go(onFiles(request, chosen), chosen, read.is === "read" ? read.account : undefined);
  };
  useDropped(take);
  const part = { request, choices, change, isDisabled: isRunning };
  return (
    <>
      <h1>What would a better queue change for your traffic?</h1>
      <p class="dim">
        Give a recording of your line, and this page says what is in it, and what your users would have felt under what you
        could install. <b>The file stays on your machine</b>: this page may connect to nothing.
      </p>
      <label class="drop">
        <input id="files" class="hidden" type="file" multiple disabled={isRunning} onChange={(e) => take([...(e.currentTarget.files ?? [])])} />
        <b>Choose files, or drop them here</b>
        <small>
          Captures (pcap, pcapng, snoop, ERF), Zeek’s logs, access logs of web servers, HAR files of browsers, NetFlow as text,
          tables with named columns; gzip, too. Up to {megabytes(choices.most.file_bytes)} together.
        </small>
      </label>
      {read.is === "nothing" && (
        <details>
          <summary>How do I make a recording?</summary>
          <ul class="classes">
            <li>
              On a Linux router: <code>tcpdump -i DEV -s 128 -w line.pcap</code> for an hour in the evening; 128 bytes of each
              packet are enough, and DEV is the device towards the users.
            </li>
            <li>In a browser: developer tools, Network, save all as HAR.</li>
            <li>Of a web server: its access log as it is.</li>
          </ul>
        </details>
      )}
      <div role="status">
        {read.is === "reading" && (
          <p class="go">
            <progress max={Math.max(1, read.of)} value={read.bytes} aria-label="Bytes that are read" />
            <span class="dim">
              Reading {megabytes(read.bytes)} of {megabytes(read.of)}
            </span>
          </p>
        )}
        {read.is === "refused" && <p class="fault">{read.text}</p>}
      </div>
      {read.is === "large" && (
        <section aria-label="What to type instead">
          <p class="fault">
            {megabytes(sizeOf(read.chosen.list))} are more than this page takes. The command reads files of any size:
          </p>
          <Copied text={`${inspectCommand(read.chosen.list.map((one) => one.name))}\n${commandOf(onFiles(request, read.chosen), choices.request)}`} what="the commands" />
        </section>
      )}
      {read.is === "read" && <AccountView account={read.account} />}
      {read.is === "read" && (
        <form onSubmit={go}>
          <Rates {...part}>
            <Load {...part} title="Load, share of the rate" />
          </Rates>
          <p class="dim">
            Without a load the traffic is played as it was recorded. With one it is laid over itself, or slowed down, until it
            fills this share of the download rate.
          </p>
          <details>
            <summary>The modem, how long</summary>
            <Queue {...part} />
            <Simulated {...part} />
          </details>
          <Go state={state} />
        </form>
      )}
      <Outcome state={state} choices={choices} />
    </>
  );
}

/**
 * Takes files that are dropped anywhere on the page, which would leave the page otherwise; as long as the component is
 * shown. The list may be empty.
 */
function useDropped(take: (list: File[]) => void): void {
  useEffect(() => {
    const over = (event: DragEvent) => {
      event.preventDefault();
      document.querySelector(".drop")?.classList.add("over");
    };
    const out = () => document.querySelector(".drop")?.classList.remove("over");
    const drop = (event: DragEvent) => {
      event.preventDefault();
      out();
      take([...(event.dataTransfer?.files ?? [])]);
    };
    addEventListener("dragover", over);
    addEventListener("dragleave", out);
    addEventListener("drop", drop);
    return () => {
      removeEventListener("dragover", over);
      removeEventListener("dragleave", out);
      removeEventListener("drop", drop);
    };
  });
}
