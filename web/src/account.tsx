import type { Account } from "./compare";

/** Shows the content of files as `mousehole inspect` summarises it. */
export function AccountView({ account }: { account: Account }) {
  return (
    <section aria-label="What is in it" id="account">
      <h2>{account.title}</h2>
      <dl class="facts">
        {account.facts.map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>
              {value.split("\n").map((line) => (
                <span key={line}>{line}</span>
              ))}
            </dd>
          </div>
        ))}
      </dl>
      {account.remarks.length > 0 && (
        <ul class="remarks">
          {account.remarks.map(({ kind, text }) => (
            <li key={text} class={kind}>
              {kind}: {text}
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}
