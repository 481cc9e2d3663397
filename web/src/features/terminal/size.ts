/** Minimum number of columns that programs support. */
const LEAST_COLS = 60;

/** A size with the same aspect ratio and enough columns; the terminal scales it down. */
export function roomy(fits: { cols: number; rows: number }): { cols: number; rows: number } {
  if (fits.cols >= LEAST_COLS) return fits;
  return { cols: LEAST_COLS, rows: Math.floor((fits.rows * LEAST_COLS) / fits.cols) };
}
