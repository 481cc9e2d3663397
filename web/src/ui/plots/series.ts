/** The colour of a series, by the name of its token. */
export type Tone = "active" | "completed" | "failed" | "waiting" | "offline" | "accent";

/** The style of a series; series in one plot differ in style, not only in colour. */
export type Draw = "bars" | "hatched" | "area" | "dashed" | "dots" | "diamonds" | "triangles";

/** A series of values; `null` for no data. */
export type Series = { name: string; tone: Tone; draw: Draw; values: readonly (number | null)[] };

/** Whether a series consists of bars, which are stacked. */
export function isBars(draw: Draw): boolean {
  return draw === "bars" || draw === "hatched";
}

/** Whether a series consists of points. */
export function isMarks(draw: Draw): boolean {
  return draw === "dots" || draw === "diamonds" || draw === "triangles";
}

/** The size of a point; points that may overlap others are larger and hollow. */
export function sizeOf(draw: Draw): number {
  return draw === "diamonds" ? 6 : 3.5;
}

/** The outline of a point around the origin. */
export function outline(draw: Draw, size: number): string {
  if (draw === "diamonds") return `M0 ${-size}L${size} 0L0 ${size}L${-size} 0Z`;
  if (draw === "triangles") return `M0 ${-size}L${size} ${size * 0.8}L${-size} ${size * 0.8}Z`;
  return `M${-size} 0A${size} ${size} 0 1 0 ${size} 0A${size} ${size} 0 1 0 ${-size} 0Z`;
}
