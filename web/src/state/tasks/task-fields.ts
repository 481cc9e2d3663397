/** The fields of a task in a Markdown list, with aliases. */
export const FIELDS = {
  id: "id",
  context: "context",
  accept: "accept",
  acceptance: "accept",
  files: "files",
  file: "files",
  deps: "deps",
  dep: "deps",
  after: "deps",
  priority: "priority",
  needs: "needs",
  need: "needs",
} as const;

/** A field of a task. */
export type Field = (typeof FIELDS)[keyof typeof FIELDS];

/** Common names of fields in other tools. */
const MEANT: Record<string, Field> = {
  depends: "deps",
  "depends on": "deps",
  dependency: "deps",
  dependencies: "deps",
  "blocked by": "deps",
  "waits for": "deps",
  "acceptance criteria": "accept",
  criteria: "accept",
  "done when": "accept",
  prio: "priority",
  ability: "needs",
  abilities: "needs",
};

/**
 * The error for a line that looks like an unknown field; null for ordinary text. Single words count only among the
 * fields of an item. `listed` is the text after a list marker.
 */
export function slipOf(text: string, listed: string | null, among: boolean): string | null {
  const line = listed ?? text;
  const colon = line.indexOf(":");
  if (colon < 0) return null;
  const name = line
    .slice(0, colon)
    .trim()
    .replace(/^\*+|\*+$/gu, "");
  const word = name.toLowerCase().replaceAll(/[_-]/gu, " ");
  const single = among && listed !== null && /^\p{Alphabetic}+$/u.test(name);
  const meant = MEANT[word] ?? (single ? nearest(word) : undefined);
  const ends = /^(?:\s|$)/u.test(line.slice(colon + 1));
  if (!meant && !(single && ends && /^\p{Lowercase}+$/u.test(name))) return null;
  const hint = meant ? `; did you mean “${meant}”?` : ".";
  const known = [...new Set(Object.values(FIELDS))].join(", ");
  return `There is no field “${name}”${hint} Known fields: ${known}. If this is part of the description, remove the colon.`;
}

/** The closest field name, if it is similar. */
function nearest(word: string): string | undefined {
  const most = word.length < 3 || word.length > 60 ? -1 : word.length < 6 ? 1 : 2;
  const near = Object.keys(FIELDS).map((name) => ({ name, far: distance(word, name) }));
  return near.filter(({ far }) => far <= most).sort((a, b) => a.far - b.far)[0]?.name;
}

/** The edit distance of two words. */
function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, at) => at);
  for (const [i, from] of [...a].entries()) {
    const next = [i + 1];
    for (const [j, to] of [...b].entries())
      next.push(Math.min((row[j] ?? 0) + Number(from !== to), (row[j + 1] ?? 0) + 1, (next[j] ?? 0) + 1));
    row = next;
  }
  return row[b.length] ?? 0;
}
