import type { Terminal } from "@xterm/xterm";

/** Patches a new terminal. */
export function mend(terminal: Terminal): void;
