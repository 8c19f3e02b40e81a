// Prints the document of the request in the second file, by the WebAssembly in the first.
import { readFile } from "node:fs/promises";
import { load } from "./compare.mjs";

const [program, request] = await Promise.all(process.argv.slice(2).map((name) => readFile(name)));
const compare = await load(program);
process.stdout.write(compare(request));
