import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { gzipSync } from "node:zlib";
import { defineConfig, type Plugin } from "vite";

const ENGINE = "virtual:engine";
const REPORT = "virtual:report";

/**
 * Makes the module `virtual:engine` of the engine's WebAssembly, compressed and as text: a script, because the page
 * may connect to nothing, not even to its own host.
 */
function engine(): Plugin {
  return {
    name: "engine",
    resolveId: (id) => (id === ENGINE ? `\0${ENGINE}` : null),
    load(id) {
      if (id !== `\0${ENGINE}`) return null;
      const path = process.env["MOUSEHOLE_WASM"];
      if (!path) throw new Error("MOUSEHOLE_WASM names the engine's file; make web sets it");
      const text = gzipSync(readFileSync(path), { level: 9 }).toString("base64");
      return `export default ${JSON.stringify(text)};`;
    },
  };
}

/** Makes the module `virtual:report` of the script of every report, which Python's `html` has. */
function report(): Plugin {
  return {
    name: "report",
    resolveId: (id) => (id === REPORT ? `\0${REPORT}` : null),
    load(id) {
      if (id !== `\0${REPORT}`) return null;
      const script = readFileSync("../python/mousehole/html/page.js", "utf8");
      if (/<\/script|<!--/i.test(script)) throw new Error("page.js would end the script element it stands in");
      const digest = `sha256-${createHash("sha256").update(script).digest("base64")}`;
      return `export const script = ${JSON.stringify(script)}; export const digest = ${JSON.stringify(digest)};`;
    },
  };
}

export default defineConfig({
  base: "./",
  plugins: [engine(), report()],
  worker: { format: "es" },
  oxc: { jsx: { runtime: "automatic", importSource: "preact" } },
  build: {
    outDir: process.env["MOUSEHOLE_SITE"] ?? "../build/site/try",
    emptyOutDir: true,
    modulePreload: false,
    assetsInlineLimit: 0,
    chunkSizeWarningLimit: 4000,
    target: "es2022",
  },
});
