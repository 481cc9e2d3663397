/** A text in one line, without code marks. */
export function plain(text: string): string {
  return text
    .replaceAll(/`([^`\n]+)`/gu, "$1")
    .split("\n")
    .map((line) => line.trim())
    .filter(Boolean)
    .join(" · ");
}

/** The length of a text in bytes, which the hub's limits use. */
export function bytes(text: string): number {
  return new TextEncoder().encode(text).length;
}

/** A text of the hub as a sentence: with a capital letter and a full stop. */
export function sentence(text: string): string {
  const start = text.charAt(0).toUpperCase() + text.slice(1);
  return /[.!?]$/u.test(start) ? start : `${start}.`;
}
