// Longer strings are dropped; visible output does not need them.
const LONGEST = 16_384;

type State = "text" | "escape" | "csi" | "string" | "string-escape";

/**
 * Removes from output what would make the terminal that plays it answer, ring or touch the clipboard; an unfinished
 * sequence waits for its end. The same rules as the CLI's (`terminal::Quiet`), on characters instead of bytes.
 */
export class Quiet {
  #state: State = "text";
  #held = "";

  /** What may be shown of the output. */
  push(output: string): string {
    let shown = "";
    for (let at = 0; at < output.length; at++) shown += this.#step(output.charAt(at));
    return shown;
  }

  #step(letter: string): string {
    const code = letter.charCodeAt(0);
    // U+0080 to U+009F mean the same as ESC and another character.
    if (code >= 0x80 && code <= 0x9f && !(this.#isString() && code === 0x9c)) {
      if (this.#isString()) this.#held += letter;
      else {
        this.#begin();
        return this.#step(String.fromCharCode(code - 0x40));
      }
      return "";
    }
    switch (this.#state) {
      case "text":
        if (letter === "\x1b") return this.#begin();
        return letter === "\x05" ? "" : letter;
      case "escape":
        return this.#escape(letter, code);
      case "csi":
        return this.#csi(letter, code);
      case "string":
        return this.#string(letter, code);
      case "string-escape":
        if (letter === "\\") return this.#end("\x1b\\");
        this.#begin();
        return this.#step(letter);
    }
  }

  #isString(): boolean {
    return this.#state === "string";
  }

  #escape(letter: string, code: number): string {
    if (letter === "\x1b") return this.#begin();
    if (letter === "\x18" || letter === "\x1a") return this.#drop();
    if (letter === "\x05" || letter === "\x7f") return "";
    // A control character inside a command takes effect at once, and the command continues.
    if (code < 0x20) return letter;
    if (code >= 0x80) {
      this.#drop();
      return this.#step(letter);
    }
    if (letter === "[") return this.#hold("csi", letter);
    if ("]PX^_".includes(letter)) return this.#hold("string", letter);
    if (code <= 0x2f) return this.#hold("escape", letter);
    if (letter === "Z" && this.#held.length === 1) return this.#drop();
    return this.#show(letter);
  }

  #csi(letter: string, code: number): string {
    if (letter === "\x1b") return this.#begin();
    if (code >= 0x40 && code <= 0x7e)
      return asks(this.#held.slice(2), letter) ? this.#drop() : this.#show(letter);
    if (letter === "\x18" || letter === "\x1a") return this.#drop();
    if (code >= 0x20 && code <= 0x3f) {
      if (this.#held.length < LONGEST) this.#held += letter;
      return "";
    }
    return code < 0x20 && letter !== "\x05" ? letter : "";
  }

  #string(letter: string, code: number): string {
    if (code === 0x9c) return this.#end("\x1b\\");
    if (letter === "\x07" && this.#held.charAt(1) === "]") return this.#end(letter);
    if (letter === "\x18" || letter === "\x1a") return this.#drop();
    if (letter === "\x1b") this.#state = "string-escape";
    else if (this.#held.length < LONGEST) this.#held += letter;
    return "";
  }

  #begin(): string {
    this.#held = "\x1b";
    this.#state = "escape";
    return "";
  }

  #hold(state: State, letter: string): string {
    this.#state = state;
    this.#held += letter;
    return "";
  }

  #drop(): string {
    this.#state = "text";
    this.#held = "";
    return "";
  }

  #show(letter: string): string {
    const shown = this.#held + letter;
    this.#drop();
    return shown;
  }

  #end(end: string): string {
    const shown = this.#held.length < LONGEST && harmless(this.#held.slice(1)) ? this.#held + end : "";
    this.#drop();
    return shown;
  }
}

// Whether a control sequence queries the terminal, or acts outside of its screen.
function asks(parameters: string, action: string): boolean {
  if ("cnxti".includes(action)) return true;
  if (action === "p") return parameters.endsWith("$");
  if (action === "q") return parameters.startsWith(">");
  if (action === "u" || action === "m") return parameters.startsWith("?");
  return "wy|zSR".includes(action) && /[^\d;]/u.test(parameters);
}

const SHOWN = new Set(["0", "1", "2", "4", "8", "10", "11", "12", "104", "110", "111", "112"]);

// Titles, links and colours are; questions, clipboard, notifications and everything unknown are not.
function harmless(string: string): boolean {
  if (!string.startsWith("]")) return false;
  const parts = string.slice(1).split(";");
  return !parts.includes("?") && !/[\u0080-\u009f]/u.test(string) && SHOWN.has(parts[0] ?? "");
}
