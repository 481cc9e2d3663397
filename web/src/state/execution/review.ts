import type { DiffLine, FileDiff, Hunk } from "../../protocol";

/** A line of a hunk with its numbers. */
export type NumberedLine = DiffLine & { old: number | null; now: number | null };

/** A remark on one line of a workspace's diff, not sent yet. */
export type Remark = {
  path: string;
  /** The line's number: now, or before for a line that went. */
  line: number;
  removed: boolean;
  quote: string;
  text: string;
};

/** The lines of a hunk with their numbers before and now. */
export function numbered(hunk: Hunk): NumberedLine[] {
  let old = hunk.old_start;
  let now = hunk.new_start;
  return hunk.lines.map((line) => ({
    ...line,
    old: line.kind === "added" ? null : old++,
    now: line.kind === "removed" ? null : now++,
  }));
}

/** What makes a line's remark its own. */
export function remarkKey(remark: Pick<Remark, "path" | "line" | "removed">): string {
  return `${remark.path}:${remark.removed ? "-" : ""}${remark.line}`;
}

/** The remarks with one more, or changed; an empty one is taken away. */
export function remarked(remarks: readonly Remark[], remark: Remark): readonly Remark[] {
  const others = remarks.filter((other) => remarkKey(other) !== remarkKey(remark));
  return remark.text.trim() ? [...others, { ...remark, text: remark.text.trim() }] : others;
}

/** The remarks as an agent reads them: where, what stands there, what is said about it. */
export function reviewText(remarks: readonly Remark[]): string {
  const sorted = [...remarks].sort((a, b) => (a.path < b.path ? -1 : a.path > b.path ? 1 : a.line - b.line));
  const parts = sorted.map((remark) => {
    const where = `${remark.path}:${remark.line}${remark.removed ? " (removed line)" : ""}`;
    return `${where}\n> ${remark.quote.trim() || "(empty line)"}\n${remark.text}`;
  });
  const head =
    sorted.length === 1 ? "A comment on your changes:" : `${sorted.length} comments on your changes:`;
  return [head, ...parts].join("\n\n");
}

/** How many lines a file's diff has. */
export function lengthOfDiff(file: FileDiff): number {
  return file.hunks.reduce((sum, hunk) => sum + hunk.lines.length, 0);
}
