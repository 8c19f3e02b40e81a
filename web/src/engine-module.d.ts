declare module "virtual:engine" {
  /** The engine's WebAssembly, compressed by gzip, in base64. */
  const text: string;
  export default text;
}

declare module "virtual:report" {
  /** The script of every report, as it stands in a file, and its digest as a Content-Security-Policy names it. */
  export const script: string;
  export const digest: string;
}
