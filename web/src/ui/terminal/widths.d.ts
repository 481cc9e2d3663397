import type { IUnicodeVersionProvider } from "@xterm/xterm";

/** How many cells a character takes. */
export function width(code: number): 0 | 1 | 2;

/** For `terminal.unicode.register`; then `terminal.unicode.activeVersion = provider.version`. */
export const provider: IUnicodeVersionProvider;
