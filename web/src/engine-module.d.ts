declare module "virtual:engine" {
  /** The engine's WebAssembly, compressed by gzip, in base64. */
  const text: string;
  export default text;
}
