import { Emulator } from "./emulator";

// A disposed xterm.js 6.0 terminal is not given back to the browser, so terminals are used again instead.
const spare: Emulator[] = [];

/** A terminal that shows nothing yet. */
export function takeEmulator(): Emulator {
  return spare.pop() ?? new Emulator();
}

/** Gives a terminal back. */
export function giveEmulator(emulator: Emulator): void {
  emulator.clear();
  spare.push(emulator);
}
