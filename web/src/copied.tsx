import { useState } from "preact/hooks";

/** A text whose lines break at spaces, not at the hyphens of options. */
export function Unbroken({ text }: { text: string }) {
  return <>{text.split(/(\s+)/).map((one) => (/\S/.test(one) ? <span class="word">{one}</span> : one))}</>;
}

/** A text in the letters of a terminal, with a button that copies it. */
export function Copied({ text, what }: { text: string; what: string }) {
  const [said, setSaid] = useState("");
  const copy = () =>
    navigator.clipboard.writeText(text).then(
      () => setSaid("Copied"),
      () => setSaid("The browser does not let this page copy; select the text."),
    );
  return (
    <div class="take">
      <pre tabIndex={0}>
        <Unbroken text={text} />
      </pre>
      <button type="button" onClick={copy}>
        Copy {what}
      </button>{" "}
      <span role="status">{said}</span>
    </div>
  );
}
