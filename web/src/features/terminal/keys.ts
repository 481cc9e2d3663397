/** Keyboard shortcuts on the terminals page; they never reach the program in the terminal. */
export type TerminalKey =
  | { does: "tab"; index: number }
  | {
      does:
        | "find"
        | "handoff"
        | "keyboard"
        | "leave"
        | "palette"
        | "diff"
        | "grid"
        | "copy"
        | "next"
        | "previous";
    };

const SHIFTED: Record<string, Exclude<TerminalKey["does"], "tab">> = {
  KeyE: "keyboard",
  KeyF: "find",
  KeyL: "leave",
  KeyK: "palette",
  KeyD: "diff",
  KeyG: "grid",
  KeyC: "copy",
  PageDown: "next",
  PageUp: "previous",
};

/** The shortcut for a key press; null for input to the program. */
export function terminalKey(event: KeyboardEvent): TerminalKey | null {
  if (event.type !== "keydown" || event.altKey || event.metaKey || !event.ctrlKey) return null;
  const digit = /^Digit([1-9])$/.exec(event.code)?.[1];
  if (digit && !event.shiftKey) return { does: "tab", index: Number(digit) - 1 };
  if (event.code === "KeyH" && !event.shiftKey) return { does: "handoff" };
  const does = event.shiftKey ? SHIFTED[event.code] : undefined;
  return does ? { does } : null;
}
