import type { Terminal } from "@xterm/xterm";

/** Mends a terminal that has not shown anything yet. */
export function mend(terminal: Terminal): void;
