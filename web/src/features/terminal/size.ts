/** Programs lay out their screens for no less than this. */
const LEAST_COLS = 60;

/** A size of the same shape that has enough columns to work in; it is drawn with smaller letters. */
export function roomy(fits: { cols: number; rows: number }): { cols: number; rows: number } {
  if (fits.cols >= LEAST_COLS) return fits;
  return { cols: LEAST_COLS, rows: Math.floor((fits.rows * LEAST_COLS) / fits.cols) };
}
