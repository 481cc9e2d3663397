import { Emulator } from "./emulator";

// xterm.js 6.0 leaks disposed terminals, so they are reused.
const spare: Emulator[] = [];

/** Takes an empty terminal from the pool. */
export function takeEmulator(): Emulator {
  return spare.pop() ?? new Emulator();
}

/** Returns a terminal to the pool. */
export function giveEmulator(emulator: Emulator): void {
  emulator.clear();
  spare.push(emulator);
}
