/** A line of a diff, or a folded run of unchanged lines. */
export type Shown = { kind: "same" | "added" | "removed"; text: string } | { kind: "gap"; count: number };

const AROUND = 3;

/** Folds long runs of unchanged lines, keeping a few around each change. */
export function fold(
  lines: readonly { kind: "same" | "added" | "removed"; text: string }[],
  unfolded: boolean,
): Shown[] {
  if (unfolded) return [...lines];
  const shown: Shown[] = [];
  let run: Shown[] = [];
  const flush = (last: boolean) => {
    const head = shown.length === 0 ? 0 : AROUND;
    const tail = last ? 0 : AROUND;
    if (run.length > head + tail + 1) {
      const count = run.length - head - tail;
      shown.push(...run.slice(0, head), { kind: "gap", count }, ...run.slice(run.length - tail));
    } else shown.push(...run);
    run = [];
  };
  for (const line of lines) {
    if (line.kind === "same") run.push(line);
    else {
      flush(false);
      shown.push(line);
    }
  }
  flush(true);
  return shown;
}
