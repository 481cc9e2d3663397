/** The colour of a row of values: a status or the accent, as the tokens name them. */
export type Tone = "active" | "completed" | "failed" | "waiting" | "offline" | "accent";

/** How values are drawn; two rows in one plot differ in this, not only in their colours. */
export type Draw = "bars" | "hatched" | "area" | "dashed" | "dots" | "diamonds" | "triangles";

/** A row of values; `null`: there was nothing to measure. */
export type Series = { name: string; tone: Tone; draw: Draw; values: readonly (number | null)[] };

/** Whether a row is made of bars, which stand on each other. */
export function isBars(draw: Draw): boolean {
  return draw === "bars" || draw === "hatched";
}

/** Whether a row is made of single marks. */
export function isMarks(draw: Draw): boolean {
  return draw === "dots" || draw === "diamonds" || draw === "triangles";
}

/** How large a mark is: one that may be at the place of another is larger, and hollow. */
export function sizeOf(draw: Draw): number {
  return draw === "diamonds" ? 6 : 3.5;
}

/** The outline of a mark around the origin. */
export function outline(draw: Draw, size: number): string {
  if (draw === "diamonds") return `M0 ${-size}L${size} 0L0 ${size}L${-size} 0Z`;
  if (draw === "triangles") return `M0 ${-size}L${size} ${size * 0.8}L${-size} ${size * 0.8}Z`;
  return `M${-size} 0A${size} ${size} 0 1 0 ${size} 0A${size} ${size} 0 1 0 ${-size} 0Z`;
}
