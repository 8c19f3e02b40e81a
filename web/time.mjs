// Prints the CPU time that a comparison of the page's first scenario takes in WebAssembly, in one thread:
// node web/time.mjs build/mousehole-web.wasm [replications]
import { readFileSync } from "node:fs";

const [file, replications = "2"] = process.argv.slice(2);
const { instance } = await WebAssembly.instantiate(readFileSync(file), { page: { read: () => -1 } });
const engine = instance.exports;
engine.start();

// Calls a function of the engine with a request and numbers. Returns its output; throws the sentence of a fault.
function call(name, given, ...args) {
  const input = new TextEncoder().encode(JSON.stringify(given));
  const place = engine.input(input.length);
  new Uint8Array(engine.memory.buffer, place, input.length).set(input);
  const isFault = engine[name](...args) !== 0;
  const output = new Uint8Array(engine.memory.buffer, engine.output(), engine.output_bytes()).slice();
  if (isFault) throw new Error(new TextDecoder().decode(output));
  return output;
}

const asked = (name, given) => JSON.parse(new TextDecoder().decode(call(name, given)));
const { request } = asked("choices", null);
const { schemes } = asked("check", request);
const run = (replication) => schemes.forEach((_, scheme) => call("run", request, scheme, replication));
run(0); // compiles
const before = process.cpuUsage();
for (let replication = 1; replication <= Number(replications); replication++) run(replication);
const { user, system } = process.cpuUsage(before);
const each = (user + system) / 1e6 / Number(replications);
console.log(`${each.toFixed(2)} s of CPU time for a replication of ${request.place} under ${schemes.length} schemes`);
