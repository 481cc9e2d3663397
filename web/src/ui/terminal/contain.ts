import type { Terminal } from "@xterm/xterm";

/** Requests of a program to the person at the terminal. */
export type Asked = { clipboard: (text: string) => void };

const LONGEST_CLIPBOARD = 100_000;

/** Stops an emulator from answering queries: the session host has already answered, and a second answer would be input. */
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
  // Colours may be set, but not queried.
  for (const code of [4, 5, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 21]) {
    parser.registerOscHandler(code, (data) => data.split(";").includes("?"));
  }
  // Ignore notifications, icons, the current folder and shell marks.
  for (const code of [7, 9, 50, 99, 133, 633, 777, 1337]) parser.registerOscHandler(code, swallow);
  parser.registerOscHandler(52, (data) => {
    const text = clipboardText(data);
    if (text) asked()?.clipboard(text);
    return true;
  });
}

/** The text that an OSC 52 sequence copies; null for a read request or invalid data. */
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

/** The URL of a web link; null for anything else. */
export function webTarget(text: string): URL | null {
  try {
    const url = new URL(text);
    return url.protocol === "https:" || url.protocol === "http:" ? url : null;
  } catch {
    return null;
  }
}

/** A safe title: one line, limited length, without control and bidirectional characters. */
export function plainTitle(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, "").slice(0, 200);
}
