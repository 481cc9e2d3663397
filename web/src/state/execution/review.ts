import type { DiffLine, FileDiff, Hunk } from "../../protocol";

/** A line of a hunk with its line numbers. */
export type NumberedLine = DiffLine & { old: number | null; now: number | null };

/** The lines of a hunk with old and new line numbers. */
export function numbered(hunk: Hunk): NumberedLine[] {
  let old = hunk.old_start;
  let now = hunk.new_start;
  return hunk.lines.map((line) => ({
    ...line,
    old: line.kind === "added" ? null : old++,
    now: line.kind === "removed" ? null : now++,
  }));
}

/** The number of lines in a file's diff. */
export function lengthOfDiff(file: FileDiff): number {
  return file.hunks.reduce((sum, hunk) => sum + hunk.lines.length, 0);
}
