/** The result of a three-way merge. */
export type Merged = { text: string; conflicts: number };

type Hunk = { start: number; end: number; lines: string[] };

/** Three-way merge by lines; conflicting lines are kept with markers. */
export function merge(base: string, mine: string, theirs: string): Merged {
  const origin = base.split("\n");
  const left = hunks(origin, mine.split("\n"));
  const right = hunks(origin, theirs.split("\n"));
  const out: string[] = [];
  let at = 0;
  let conflicts = 0;
  while (left.length > 0 || right.length > 0) {
    const start = Math.min(left[0]?.start ?? Infinity, right[0]?.start ?? Infinity);
    out.push(...origin.slice(at, start));
    const block = takeBlock(left, right, start);
    const ours = apply(origin, block.left, start, block.end);
    const other = apply(origin, block.right, start, block.end);
    if (block.left.length === 0) out.push(...other);
    else if (block.right.length === 0 || same(ours, other)) out.push(...ours);
    else {
      conflicts += 1;
      out.push("<<<<<<< yours", ...ours, "=======", ...other, ">>>>>>> theirs");
    }
    at = block.end;
  }
  out.push(...origin.slice(at));
  return { text: out.join("\n"), conflicts };
}

// Extends a block until no hunk of either side overlaps it.
function takeBlock(left: Hunk[], right: Hunk[], start: number): { left: Hunk[]; right: Hunk[]; end: number } {
  const block = { left: [] as Hunk[], right: [] as Hunk[], end: start };
  for (let grown = true; grown;) {
    grown = false;
    for (const side of ["left", "right"] as const) {
      const queue = side === "left" ? left : right;
      while (queue[0] && queue[0].start <= block.end) {
        const hunk = queue.shift() as Hunk;
        block[side].push(hunk);
        block.end = Math.max(block.end, hunk.end);
        grown = true;
      }
    }
  }
  return block;
}

function apply(origin: string[], changes: Hunk[], start: number, end: number): string[] {
  const out: string[] = [];
  let at = start;
  for (const hunk of changes) {
    out.push(...origin.slice(at, hunk.start), ...hunk.lines);
    at = hunk.end;
  }
  return [...out, ...origin.slice(at, end)];
}

function same(a: string[], b: string[]): boolean {
  return a.length === b.length && a.every((line, index) => line === b[index]);
}

function hunks(from: string[], to: string[]): Hunk[] {
  const found: Hunk[] = [];
  let i = 0;
  let j = 0;
  for (const [x, y] of [...common(from, to), [from.length, to.length] as const]) {
    if (x > i || y > j) found.push({ start: i, end: x, lines: to.slice(j, y) });
    i = x + 1;
    j = y + 1;
  }
  return found;
}

// A longest common subsequence, after trimming the common head and tail.
function common(a: string[], b: string[]): [number, number][] {
  let head = 0;
  while (head < a.length && head < b.length && a[head] === b[head]) head++;
  let tail = 0;
  while (
    tail < a.length - head &&
    tail < b.length - head &&
    a[a.length - 1 - tail] === b[b.length - 1 - tail]
  )
    tail++;
  const n = a.length - head - tail;
  const m = b.length - head - tail;
  const pairs: [number, number][] = Array.from({ length: head }, (_, k) => [k, k]);
  // Treat a larger middle as one change, to keep the page responsive.
  if (n * m <= 4_000_000) pairs.push(...middle(a, b, head, n, m));
  for (let k = tail; k > 0; k--) pairs.push([a.length - k, b.length - k]);
  return pairs;
}

function middle(a: string[], b: string[], head: number, n: number, m: number): [number, number][] {
  const width = m + 1;
  const best = new Uint32Array((n + 1) * width);
  const at = (i: number, j: number) => best[i * width + j] ?? 0;
  for (let i = n - 1; i >= 0; i--) {
    for (let j = m - 1; j >= 0; j--) {
      const equal = a[head + i] === b[head + j];
      best[i * width + j] = equal ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1));
    }
  }
  const pairs: [number, number][] = [];
  for (let i = 0, j = 0; i < n && j < m;) {
    if (a[head + i] === b[head + j]) pairs.push([head + i++, head + j++]);
    else if (at(i + 1, j) >= at(i, j + 1)) i++;
    else j++;
  }
  return pairs;
}

/** One line of a comparison of two texts. */
export type Line = { kind: "same" | "added" | "removed"; text: string };

/** A line diff of two texts. */
export function compareTexts(from: string, to: string): Line[] {
  const before = from.split("\n");
  const lines: Line[] = [];
  let at = 0;
  for (const hunk of hunks(before, to.split("\n"))) {
    for (const text of before.slice(at, hunk.start)) lines.push({ kind: "same", text });
    for (const text of before.slice(hunk.start, hunk.end)) lines.push({ kind: "removed", text });
    for (const text of hunk.lines) lines.push({ kind: "added", text });
    at = hunk.end;
  }
  for (const text of before.slice(at)) lines.push({ kind: "same", text });
  return lines;
}
