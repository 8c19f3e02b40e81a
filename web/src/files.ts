/** What users take along: texts for the clipboard, and files that the browser saves. */

/** Lets the browser save a text or bytes as a file. */
export function save(name: string, type: string, content: string | Uint8Array<ArrayBuffer>): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([content], { type }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}
