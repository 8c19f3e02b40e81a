/** Exports: texts for the clipboard, and files that the browser saves. */

/** Lets the browser save a text, bytes or a blob as a file; it has 10 s to begin. */
export function save(name: string, type: string, content: string | Uint8Array<ArrayBuffer> | Blob): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([content], { type }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

const DENSITY = 2;

/**
 * Returns a picture as PNG, with two dots for each of its pixels, on the background of the page. Rejects if this
 * browser cannot draw it.
 */
export async function asPng(svg: string): Promise<Blob> {
  const image = new Image();
  image.src = URL.createObjectURL(new Blob([svg], { type: "image/svg+xml" }));
  try {
    await image.decode();
    const canvas = document.createElement("canvas");
    [canvas.width, canvas.height] = [DENSITY * image.naturalWidth, DENSITY * image.naturalHeight];
    const context = canvas.getContext("2d")!;
    context.fillStyle = getComputedStyle(document.documentElement).getPropertyValue("--back");
    context.fillRect(0, 0, canvas.width, canvas.height);
    context.drawImage(image, 0, 0, canvas.width, canvas.height);
    return await new Promise((resolve, reject) =>
      canvas.toBlob((blob) => (blob ? resolve(blob) : reject(new Error("this browser makes no PNG"))), "image/png"),
    );
  } finally {
    URL.revokeObjectURL(image.src);
  }
}
