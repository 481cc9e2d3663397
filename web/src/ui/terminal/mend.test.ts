import headless from "@xterm/headless";
import type { Terminal } from "@xterm/xterm";
import { expect, test } from "vitest";
import { mend } from "./mend.js";

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

async function shown(bytes: string): Promise<{ lines: string[]; terminal: headless.Terminal }> {
  const terminal = new headless.Terminal({ cols: 20, rows: 6, allowProposedApi: true });
  mend(terminal as unknown as Terminal);
  await new Promise<void>((done) => terminal.write(bytes, done));
  const { active } = terminal.buffer;
  const lines = Array.from(
    { length: 6 },
    (_, row) => active.getLine(active.baseY + row)?.translateToString(true) ?? "",
  );
  return { lines, terminal };
}

test.each(["L", "M", "S", "T", "I", "Z", "@", "P", "X"])(
  "a program cannot make it count for minutes: %s",
  async (final) => {
    const { lines } = await shown(`\x1b[2147483647${final}\x1b[Hafter`);
    expect(lines[0]).toBe("after");
  },
);

test("repeating a character ends when the screen is full", async () => {
  const { lines } = await shown("x\x1b[2147483647b");
  expect(lines.slice(0, 5)).toEqual(Array.from({ length: 5 }, () => "x".repeat(20)));
});

test("a saved cursor keeps its position and style when lines scroll", async () => {
  const { lines, terminal } = await shown("\x1b[3;1H\x1b[4:3m\x1b7\x1b[0m\x1b[6;1H\n\n\n\x1b8here");
  expect(lines[2]).toBe("here");
  expect(terminal.buffer.active.getLine(5)?.getCell(0)?.isUnderline()).toBeTruthy();
});

test("in origin mode, a step to the left stays on its line", async () => {
  const { lines } = await shown("\x1b[3;5r\x1b[?6h\x1b[5C\x1b[2Dx");
  expect(lines[2]).toBe("   x");
});

test("a reset shows the cursor", async () => {
  const { terminal } = await shown("\x1b[?25l\x1bc");
  const { coreService } = (terminal as unknown as { _core: { coreService: { isCursorHidden: boolean } } })
    ._core;
  expect(coreService.isCursorHidden).toBe(false);
});
