// Prints what the WebAssembly file named by the argument returns as mean response time, with all its digits.
import { readFile } from "node:fs/promises";

const { instance } = await WebAssembly.instantiate(await readFile(process.argv[2]));
console.log(String(instance.exports.mean_response_s()));
