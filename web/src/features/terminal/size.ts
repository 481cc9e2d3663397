/** Minimum number of columns that programs support. */
const LEAST_COLS = 60;

/** A size with the same aspect ratio and enough columns; the terminal scales it down. */
export function roomy(fits: { cols: number; rows: number }): { cols: number; rows: number } {
  if (fits.cols >= LEAST_COLS) return fits;
  return { cols: LEAST_COLS, rows: Math.floor((fits.rows * LEAST_COLS) / fits.cols) };
}

/** Whether input is a person's typing; false for reports of focus and of the pointer. */
export function isTyped(bytes: Uint8Array): boolean {
  const [escape, bracket, kind] = bytes;
  if (escape !== 0x1b || bracket !== 0x5b) return bytes.length > 0;
  const word = String.fromCharCode(kind ?? 0);
  const focus = bytes.length === 3 && (word === "I" || word === "O");
  const pointer = word === "<" || (word === "M" && bytes.length >= 6);
  return !focus && !pointer;
}
