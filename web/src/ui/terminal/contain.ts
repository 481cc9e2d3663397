import type { Terminal } from "@xterm/xterm";

/** What a program in a terminal asks of whoever looks at it. */
export type Asked = { clipboard: (text: string) => void };

const LONGEST_CLIPBOARD = 100_000;

/** Makes an emulator answer nothing: the session's host has answered already, and a second answer would be typed. */
export function contain(terminal: Terminal, asked: () => Asked | null): void {
  const { parser } = terminal;
  const swallow = () => true;
  // Device attributes, status, modes, window operations, version, keyboard, terminal parameters, checksums, graphics.
  for (const final of ["c", "n", "t", "x"]) parser.registerCsiHandler({ final }, swallow);
  for (const prefix of [">", "=", "?"]) parser.registerCsiHandler({ prefix, final: "c" }, swallow);
  for (const final of ["n", "u", "S"]) parser.registerCsiHandler({ prefix: "?", final }, swallow);
  for (const final of ["q", "t"]) parser.registerCsiHandler({ prefix: ">", final }, swallow);
  parser.registerCsiHandler({ intermediates: "$", final: "p" }, swallow);
  parser.registerCsiHandler({ prefix: "?", intermediates: "$", final: "p" }, swallow);
  parser.registerCsiHandler({ intermediates: "$", final: "u" }, swallow);
  parser.registerCsiHandler({ intermediates: "$", final: "w" }, swallow);
  parser.registerCsiHandler({ intermediates: "*", final: "y" }, swallow);
  parser.registerCsiHandler({ intermediates: "&", final: "u" }, swallow);
  parser.registerEscHandler({ final: "Z" }, swallow);
  // Settings, capabilities.
  parser.registerDcsHandler({ intermediates: "$", final: "q" }, swallow);
  parser.registerDcsHandler({ intermediates: "+", final: "q" }, swallow);
  // Colours may be set, never asked for.
  for (const code of [4, 5, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 21]) {
    parser.registerOscHandler(code, (data) => data.split(";").includes("?"));
  }
  // Notifications, icons, the current folder, shells' marks: nothing of it reaches the browser.
  for (const code of [7, 9, 50, 99, 133, 633, 777, 1337]) parser.registerOscHandler(code, swallow);
  parser.registerOscHandler(52, (data) => {
    const text = clipboardText(data);
    if (text) asked()?.clipboard(text);
    return true;
  });
}

/** The text that an OSC 52 sequence would put into the clipboard; null when it asks to read it, or is nothing. */
export function clipboardText(data: string): string | null {
  const content = data.slice(data.indexOf(";") + 1);
  if (content === "?" || content.length === 0 || content.length > LONGEST_CLIPBOARD * 1.4) return null;
  try {
    const bytes = Uint8Array.from(atob(content), (letter) => letter.charCodeAt(0));
    const text = new TextDecoder().decode(bytes);
    return text.length > 0 && text.length <= LONGEST_CLIPBOARD ? text : null;
  } catch {
    return null;
  }
}

/** A link's target when it leads to the web, as the browser reads it; null for anything else. */
export function webTarget(text: string): URL | null {
  try {
    const url = new URL(text);
    return url.protocol === "https:" || url.protocol === "http:" ? url : null;
  } catch {
    return null;
  }
}

/** A title as it can be shown: one line, not endless, without characters that turn or hide others. */
export function plainTitle(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, "").slice(0, 200);
}
