/** The common entities; others are shown as source. All 2,231 would be a fifth of the page's script. */
const NAMED: Record<string, string> = {
  "&amp;": "&",
  "&lt;": "<",
  "&gt;": ">",
  "&quot;": '"',
  "&apos;": "'",
  "&nbsp;": "\u00a0",
  "&copy;": "©",
  "&deg;": "°",
  "&euro;": "€",
  "&hellip;": "…",
  "&larr;": "←",
  "&mdash;": "—",
  "&middot;": "·",
  "&ndash;": "–",
  "&rarr;": "→",
  "&times;": "×",
};

/** The character of a named entity; replaces the package `entities` for the parser. */
export function decodeHTMLStrict(entity: string): string {
  return Object.hasOwn(NAMED, entity) ? (NAMED[entity] as string) : entity;
}
