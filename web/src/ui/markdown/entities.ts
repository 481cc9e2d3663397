/** The entities that people type. All 2,231 would be a fifth of the page; others are shown as they were typed. */
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

/** What a named entity stands for; stands in for the package `entities`, of which the reader needs only this. */
export function decodeHTMLStrict(entity: string): string {
  return Object.hasOwn(NAMED, entity) ? (NAMED[entity] as string) : entity;
}
