/** How many terminals the grid may show at once. */
export const GRIDS = [2, 4, 6, 9] as const;

/** The columns and rows for this many terminals: nearly square, wider than high. */
export function gridOf(count: number): { cols: number; rows: number } {
  const cols = Math.max(1, Math.ceil(Math.sqrt(count)));
  return { cols, rows: Math.max(1, Math.ceil(count / cols)) };
}

/** The group of at most `most` tabs that contains the current one. */
export function pageOf<T>(open: readonly T[], current: T, most: number): T[] {
  const page = Math.floor(Math.max(0, open.indexOf(current)) / most);
  return open.slice(page * most, page * most + most);
}
