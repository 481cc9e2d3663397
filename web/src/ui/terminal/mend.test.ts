import headless from "@xterm/headless";
import type { Terminal } from "@xterm/xterm";
import { expect, test } from "vitest";
import { mend } from "./mend";

test.each(["\x1b[24;80Hx", "\x1b[24;80H"])(
  "erasing up to the last cell erases everything and reads on: %j",
  async (to) => {
    const terminal = new headless.Terminal({ cols: 80, rows: 24, allowProposedApi: true });
    mend(terminal as unknown as Terminal);
    const lines = Array.from({ length: 24 }, (_, row) => `line ${row}`).join("\r\n");
    await new Promise<void>((done) => terminal.write(`${lines}${to}\x1b[1J\x1b[1;1Hafter`, done));
    const shown = Array.from({ length: 24 }, (_, row) =>
      terminal.buffer.active.getLine(row)?.translateToString(true),
    );
    expect(shown).toEqual(["after", ...Array.from({ length: 23 }, () => "")]);
  },
);
