/** How well a text matches a query: higher is better, 0 is no match. Every word must be the start of a word of the text. */
export function score(query: string, text: string): number {
  const words = wordsOf(text);
  let sum = 1;
  for (const asked of wordsOf(query)) {
    const at = words.findIndex((word) => word.startsWith(asked));
    if (at < 0) return 0;
    sum += at === 0 ? 3 : 1;
  }
  return sum;
}

/** The same for names: the words must also be in the order of the name. */
export function scoreName(query: string, name: string): number {
  const words = wordsOf(name);
  const asked = wordsOf(query);
  let at = 0;
  let sum = 1;
  for (const one of asked) {
    const next = words.findIndex((word, index) => index >= at && word.startsWith(one));
    if (next < 0) return 0;
    sum += next === 0 ? 3 : next === at ? 2 : 1;
    at = next + 1;
  }
  return sum + (at === words.length && asked.length === words.length ? 3 : 0);
}

/** At most `most` items that match a query, best first. */
export function find<T>(items: readonly T[], query: string, textOf: (item: T) => string, most: number): T[] {
  return best(items, query, (item) => score(query, textOf(item)), most);
}

/** At most `most` items whose names match a query, best first. */
export function findName<T>(
  items: readonly T[],
  query: string,
  nameOf: (item: T) => string,
  most: number,
): T[] {
  return best(items, query, (item) => scoreName(query, nameOf(item)), most);
}

function best<T>(items: readonly T[], query: string, scoreOf: (item: T) => number, most: number): T[] {
  if (!query.trim()) return items.slice(0, most);
  return items
    .map((item, index) => ({ item, index, score: scoreOf(item) }))
    .filter((hit) => hit.score > 0)
    .sort((a, b) => b.score - a.score || a.index - b.index)
    .slice(0, most)
    .map((hit) => hit.item);
}

/** Words in lower case, without accents. */
function wordsOf(text: string): string[] {
  const plain = text.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase();
  return plain.split(/[^\p{L}\p{N}]+/u).filter(Boolean);
}
