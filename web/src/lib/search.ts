/** How well a text matches a query: higher is better, 0 is no match. The order of words does not matter. */
export function score(query: string, text: string): number {
  const words = query.toLowerCase().split(/\s+/u).filter(Boolean);
  const hay = text.toLowerCase();
  let sum = 1;
  for (const word of words) {
    const at = hay.indexOf(word);
    if (at >= 0) sum += at === 0 ? 30 : /[\s/_-]/u.test(hay[at - 1] ?? "") ? 20 : 10;
    else if (isSubsequence(word, hay)) sum += 1;
    else return 0;
  }
  return sum;
}

/** At most `most` items that match a query, best first. */
export function find<T>(items: readonly T[], query: string, textOf: (item: T) => string, most: number): T[] {
  if (!query.trim()) return items.slice(0, most);
  return items
    .map((item, index) => ({ item, index, score: score(query, textOf(item)) }))
    .filter((hit) => hit.score > 0)
    .sort((a, b) => b.score - a.score || a.index - b.index)
    .slice(0, most)
    .map((hit) => hit.item);
}

function isSubsequence(word: string, hay: string): boolean {
  let at = 0;
  for (const letter of hay) if (letter === word[at]) at++;
  return at === word.length;
}
