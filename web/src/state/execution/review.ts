import { count } from "../../lib/plural";
import type { DiffLine, FileDiff, Hunk } from "../../protocol";

/** A line of a hunk with its line numbers. */
export type NumberedLine = DiffLine & { old: number | null; now: number | null };

/** An unsent comment on a line of a diff. */
export type Remark = {
  path: string;
  /** The new line number, or the old one for a removed line. */
  line: number;
  removed: boolean;
  quote: string;
  text: string;
};

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

/** Identifies the line of a comment. */
export function remarkKey(remark: Pick<Remark, "path" | "line" | "removed">): string {
  return `${remark.path}:${remark.removed ? "-" : ""}${remark.line}`;
}

/** The comments with one added or changed, or removed if it is empty. */
export function remarked(remarks: readonly Remark[], remark: Remark): readonly Remark[] {
  const others = remarks.filter((other) => remarkKey(other) !== remarkKey(remark));
  return remark.text.trim() ? [...others, { ...remark, text: remark.text.trim() }] : others;
}

/** The comments as a text for the agent, with path, line and quote. */
export function reviewText(remarks: readonly Remark[]): string {
  const sorted = [...remarks].sort((a, b) => (a.path < b.path ? -1 : a.path > b.path ? 1 : a.line - b.line));
  const parts = sorted.map((remark) => {
    const where = `${remark.path}:${remark.line}${remark.removed ? " (removed line)" : ""}`;
    return `${where}\n> ${remark.quote.trim() || "(empty line)"}\n${remark.text}`;
  });
  const head = `${count(sorted.length, "comment")} on your changes:`;
  return [head, ...parts].join("\n\n");
}

/** The number of lines in a file's diff. */
export function lengthOfDiff(file: FileDiff): number {
  return file.hunks.reduce((sum, hunk) => sum + hunk.lines.length, 0);
}
