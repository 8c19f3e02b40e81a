import { Component, render, type ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import { useAddress } from "./address";
import type { Choices } from "./compare";
import { ask } from "./engine";
import { Capture } from "./capture";
import { Line } from "./line";
import { Papers } from "./papers";
import { Watching } from "./watch";
import "../../python/mousehole/html/style.css";
import "./answer.css";
import "./style.css";

const SCREENS: [string, string][] = [
  ["line", "Your line"],
  ["capture", "Your capture"],
  ["watch", "Watch it"],
  ["papers", "The papers"],
];

/** Says what broke instead of an empty page. */
class Guard extends Component<{ children: ComponentChildren }, { text: string }> {
  override state = { text: "" };
  override componentDidCatch(error: unknown) {
    this.setState({ text: String(error) });
  }
  render() {
    return this.state.text ? <p class="fault">This page broke: {this.state.text}</p> : this.props.children;
  }
}

/** Shows the screen of a name; that of the line for any other. */
function Screen({ name, choices }: { name: string; choices: Choices }) {
  if (name === "capture") return <Capture choices={choices} />;
  if (name === "papers") return <Papers />;
  return name === "watch" ? <Watching /> : <Line choices={choices} />;
}

/** Asks the engine what can be chosen, and shows the screen that the address names. */
function Page() {
  const { screen } = useAddress();
  const [choices, setChoices] = useState<Choices | string>();
  useEffect(() => {
    ask<Choices>("choices", null).then(setChoices, (error: unknown) => setChoices(String(error)));
  }, []);
  const shown = SCREENS.some(([name]) => name === screen) ? screen : "line";
  return (
    <>
      <header>
        <strong>Mousehole</strong>
        <nav aria-label="Screens">
          {SCREENS.map(([name, title]) => (
            <a href={`#${name}`} key={name} aria-current={name === shown ? "page" : undefined}>
              {title}
            </a>
          ))}
        </nav>
      </header>
      <main>
        {typeof choices === "string" && <p class="fault">The simulator does not start here: {choices}</p>}
        {choices === undefined && <p class="dim">Starting the simulator…</p>}
        {typeof choices === "object" && <Screen name={shown} choices={choices} />}
      </main>
      <footer>
        Everything is computed in your browser. This page may connect to nothing: its Content-Security-Policy has
        connect-src 'none', and it works without a network. <a href="../index.html">What Mousehole is</a>,{" "}
        <a href="../limits.html">what it cannot tell you</a>.
      </footer>
    </>
  );
}

const place = document.getElementById("page")!;
place.replaceChildren(); // what a page says whose scripts may not be loaded
render(
  <Guard>
    <Page />
  </Guard>,
  place,
);
if ("serviceWorker" in navigator && location.protocol.startsWith("http"))
  navigator.serviceWorker.register("sw.js").catch(() => undefined); // without it the page needs the network
