import type { DiffSide, FileDiff, Hunk, ReviewThread } from "../../protocol";
import { numbered, type NumberedLine } from "./review";

/** A part of a line, and whether it differs from the other side. */
export type Piece = { text: string; changed: boolean };

/** A line of a diff; `pieces` say which words changed, if the other side has a similar line. */
export type ChangedLine = NumberedLine & { pieces: readonly Piece[] | null };

/** A row of a diff that shows both sides. */
export type Row = { left: ChangedLine | null; right: ChangedLine | null };

/** Lines and words up to which changed words are searched. */
const MOST_WORDS = 200;

/** The lines of a hunk, with their changed words. */
export function linesOf(hunk: Hunk): ChangedLine[] {
  const lines: ChangedLine[] = numbered(hunk).map((line) => ({ ...line, pieces: null }));
  for (let at = 0; at < lines.length; at++) {
    const removed = run(lines, at, "removed");
    if (removed === 0) continue;
    const added = run(lines, at + removed, "added");
    for (let nth = 0; nth < Math.min(removed, added); nth++) {
      const [before, after] = [lines[at + nth], lines[at + removed + nth]];
      if (!before || !after) continue;
      const pieces = changedWords(before.text, after.text);
      if (pieces) [before.pieces, after.pieces] = pieces;
    }
    at += removed + added - 1;
  }
  return lines;
}

// How many lines of one kind follow each other.
function run(lines: readonly ChangedLine[], from: number, kind: ChangedLine["kind"]): number {
  let at = from;
  while (lines[at]?.kind === kind) at++;
  return at - from;
}

/** The lines side by side: each removed line beside the added one that replaces it. */
export function rowsOf(lines: readonly ChangedLine[]): Row[] {
  const rows: Row[] = [];
  for (let at = 0; at < lines.length;) {
    const removed = run(lines, at, "removed");
    const added = run(lines, at + removed, "added");
    for (let nth = 0; nth < Math.max(removed, added); nth++) {
      rows.push({
        left: nth < removed ? (lines[at + nth] ?? null) : null,
        right: nth < added ? (lines[at + removed + nth] ?? null) : null,
      });
    }
    at += removed + added;
    const same = lines[at];
    if (same?.kind === "same") {
      rows.push({ left: same, right: same });
      at++;
    }
  }
  return rows;
}

/** The changed words of two versions of a line; null if the versions have little in common. */
export function changedWords(before: string, after: string): [Piece[], Piece[]] | null {
  const [old, now] = [wordsOf(before), wordsOf(after)];
  if (old.length > MOST_WORDS || now.length > MOST_WORDS) return null;
  // Lengths of the longest common sequences of the remaining words.
  const width = now.length + 1;
  const common = new Uint16Array((old.length + 1) * width);
  const at = (row: number, column: number) => common[row * width + column] ?? 0;
  for (let row = old.length - 1; row >= 0; row--) {
    for (let column = now.length - 1; column >= 0; column--) {
      common[row * width + column] =
        old[row] === now[column]
          ? at(row + 1, column + 1) + 1
          : Math.max(at(row + 1, column), at(row, column + 1));
    }
  }
  const [left, right]: [Piece[], Piece[]] = [[], []];
  let [row, column, kept] = [0, 0, 0];
  while (row < old.length || column < now.length) {
    const [one, other] = [old[row], now[column]];
    if (one !== undefined && one === other) {
      add(left, one, false);
      add(right, one, false);
      kept += one.trim().length;
      row++;
      column++;
    } else if (other === undefined || (one !== undefined && at(row + 1, column) >= at(row, column + 1))) {
      add(left, one ?? "", true);
      row++;
    } else {
      add(right, other, true);
      column++;
    }
  }
  const longest = Math.max(before.replace(/\s/gu, "").length, after.replace(/\s/gu, "").length);
  return kept * 3 >= longest ? [left, right] : null;
}

function wordsOf(text: string): string[] {
  return text.match(/[\p{L}\p{N}_]+|\s+|./gu) ?? [];
}

function add(pieces: Piece[], text: string, changed: boolean): void {
  const last = pieces.at(-1);
  if (last?.changed === changed) last.text += text;
  else pieces.push({ text, changed });
}

/** Changed files by folder, in order. */
export function foldersOf<T extends Pick<FileDiff, "path">>(
  files: readonly T[],
): { folder: string; files: T[] }[] {
  const folders = new Map<string, T[]>();
  for (const file of files) {
    const folder = file.path.slice(0, file.path.lastIndexOf("/") + 1);
    folders.set(folder, [...(folders.get(folder) ?? []), file]);
  }
  return [...folders].map(([folder, inside]) => ({ folder, files: inside }));
}

/** The name of a file without its folder. */
export function nameIn(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}

/** Identifies the content of a file's changes, so that a viewed file counts as new when they differ. */
export function printOf(file: FileDiff): string {
  let hash = 5381;
  const mix = (text: string) => {
    for (let at = 0; at < text.length; at++) hash = (hash * 33 + text.charCodeAt(at)) | 0;
  };
  mix(`${file.change} ${file.mode} ${file.insertions} ${file.deletions}`);
  for (const hunk of file.hunks) for (const line of hunk.lines) mix(`${line.kind[0]}${line.text}\n`);
  return (hash >>> 0).toString(36);
}

/** The side of a diff that a line is on, and its number there. */
export function sideOf(line: NumberedLine): { side: DiffSide; number: number } {
  return line.now === null ? { side: "old", number: line.old ?? 0 } : { side: "new", number: line.now };
}

/** Identifies a line of a file. */
export function lineKey(side: DiffSide, number: number): string {
  return `${side} ${number}`;
}

/** The threads of a file by the line below which they are shown; those on lines that the diff does not have are apart. */
export function placed(
  file: FileDiff,
  threads: readonly ReviewThread[],
): { at: ReadonlyMap<string, ReviewThread[]>; apart: ReviewThread[] } {
  const shown = new Set<string>();
  for (const hunk of file.hunks) {
    for (const line of numbered(hunk)) {
      if (line.old !== null) shown.add(lineKey("old", line.old));
      if (line.now !== null) shown.add(lineKey("new", line.now));
    }
  }
  const at = new Map<string, ReviewThread[]>();
  const apart: ReviewThread[] = [];
  for (const thread of threads) {
    const key = lineKey(thread.side, thread.end_line);
    if (shown.has(key)) at.set(key, [...(at.get(key) ?? []), thread]);
    else apart.push(thread);
  }
  return { at, apart };
}

/** The text of lines of a file, as far as the diff has them. */
export function quoteOf(file: FileDiff, side: DiffSide, first: number, last: number): string {
  const lines = file.hunks.flatMap(numbered);
  const number = (line: NumberedLine) => (side === "old" ? line.old : line.now);
  return lines
    .filter((line) => {
      const own = number(line);
      return own !== null && own >= first && own <= last;
    })
    .map((line) => line.text)
    .join("\n");
}
