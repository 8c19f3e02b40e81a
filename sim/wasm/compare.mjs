// Compares schemes in WebAssembly: `const compare = await load(bytes); const document = compare(request)`.

/** Returns a function from a request to the document of its comparison, JSON in UTF-8 both, of the bytes of mousehole-wasm.wasm. */
export async function load(bytes) {
  const { instance } = await WebAssembly.instantiate(bytes);
  const { memory, reserve, compare, release } = instance.exports;
  return (given) => {
    const place = reserve(given.length);
    new Uint8Array(memory.buffer, place, given.length).set(given);
    const answer = compare(place, given.length);
    const head = new DataView(memory.buffer, answer, 9);
    const length = Number(head.getBigUint64(0, true));
    const text = new Uint8Array(memory.buffer, answer + 9, length).slice();
    const isError = head.getUint8(8) === 1;
    release(answer);
    if (isError) throw new Error(new TextDecoder().decode(text));
    return text;
  };
}
