/** What the hub or a worker says, in one line and without marks, where there is room for few words. */
export function plain(text: string): string {
  return text
    .replaceAll(/`([^`\n]+)`/gu, "$1")
    .split("\n")
    .map((line) => line.trim())
    .filter(Boolean)
    .join(" · ");
}

/** How many bytes a text has on the wire: the hub's limits are in bytes. */
export function bytes(text: string): number {
  return new TextEncoder().encode(text).length;
}
