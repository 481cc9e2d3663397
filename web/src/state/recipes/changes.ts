import { compareTexts, type Line } from "../../lib/merge";

const AROUND = 3;

/** The lines in which two texts differ, with some lines around them; null stands for lines that are left out. */
export function changesOf(from: string, to: string): { at: number; line: Line | null }[] {
  const lines = compareTexts(from, to);
  const near = new Set<number>();
  for (const [at, line] of lines.entries())
    if (line.kind !== "same") for (let by = -AROUND; by <= AROUND; by++) near.add(at + by);
  return lines
    .map((line, at) => ({ at, line: near.has(at) ? line : null }))
    .filter(({ at, line }) => line !== null || near.has(at - 1));
}
