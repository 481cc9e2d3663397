import { Terminal } from "@xterm/headless";
import { describe, expect, it } from "vitest";
import { clipboardText, contain, plainTitle, webTarget } from "./contain";

function setUp() {
  const terminal = new Terminal({ allowProposedApi: true, cols: 80, rows: 24 });
  const typed: string[] = [];
  const copied: string[] = [];
  terminal.onData((data) => typed.push(data));
  terminal.onBinary((data) => typed.push(data));
  contain(terminal as never, () => ({ clipboard: (text) => copied.push(text) }));
  const write = (text: string) => new Promise<void>((done) => terminal.write(text, done));
  return { terminal, typed, copied, write };
}

const ESC = "\x1b";
const ST = `${ESC}\\`;
const QUERIES = [
  ...["c", "0c", ">c", ">0c", "=c", "?c"].map((rest) => `${ESC}[${rest}`),
  ...["5n", "6n", "?6n", "?15n", "?25n", "?26n", "?53n", "?996n"].map((rest) => `${ESC}[${rest}`),
  ...Array.from({ length: 30 }, (_, code) => `${ESC}[${code}t`),
  ...["1$p", "4$p", "20$p", "?1$p", "?25$p", "?47$p", "?1000$p", "?1049$p", "?2004$p", "?2026$p"].map(
    (rest) => `${ESC}[${rest}`,
  ),
  ...["x", "1x", ">q", ">0q", "?u", "?1;1;0S", "1$w", "2$w", "1;1;1;1;1;1*y", "&u", "1$u"].map(
    (rest) => `${ESC}[${rest}`,
  ),
  ...[4, 5, 10, 11, 12, 13, 17, 19].flatMap((code) => [`${ESC}]${code};?\x07`, `${ESC}]${code};?${ST}`]),
  `${ESC}]4;0;?;1;?;2;?${ST}`,
  `${ESC}]4;1;#ff0000;2;?${ST}`,
  `${ESC}]10;?;?;?${ST}`,
  `${ESC}]52;c;?${ST}`,
  `${ESC}]52;;?\x07`,
  ...["m", "r", "s", '"p', '"q', " q", "$}", "$~", "x"].map((rest) => `${ESC}P$q${rest}${ST}`),
  ...["544e", "436f", "524742", "544e;436f"].map((rest) => `${ESC}P+q${rest}${ST}`),
  `${ESC}Z`,
  "\x05",
  `${ESC}]7;file:///etc${ST}`,
  `${ESC}]9;notify${ST}`,
  `${ESC}]777;notify;a;b${ST}`,
  `${ESC}]1337;ReportCellSize${ST}`,
];

describe("a contained terminal", () => {
  it("answers no queries, even when split over two writes", async () => {
    const { typed, write } = setUp();
    expect(QUERIES.length).toBeGreaterThan(100);
    for (const query of QUERIES) {
      await write(query);
      await write(query.slice(0, 3));
      await write(query.slice(3));
    }
    expect(typed).toEqual([]);
  });

  it("answers no queries after a reset", async () => {
    const { typed, write, terminal } = setUp();
    await write(QUERIES.join("text"));
    terminal.reset();
    await write(QUERIES.join("\r\n"));
    expect(typed).toEqual([]);
  });

  it("still shows output", async () => {
    const { terminal, write } = setUp();
    await write(`${ESC}[31mred${ESC}[0m ${ESC}]0;title\x07${ESC}[5n plain`);
    expect(terminal.buffer.active.getLine(0)?.translateToString(true)).toBe("red  plain");
  });

  it("asks before copying and never reads the clipboard", async () => {
    const { copied, write } = setUp();
    await write(`${ESC}]52;c;${btoa("rm -rf /")}\x07${ESC}]52;c;?\x07${ESC}]52;c;***\x07`);
    expect(copied).toEqual(["rm -rf /"]);
  });
});

describe("terminal output", () => {
  it("is copied only as text within the size limit", () => {
    expect(clipboardText(`c;${btoa("ok")}`)).toBe("ok");
    expect(clipboardText("c;?")).toBeNull();
    expect(clipboardText("c;")).toBeNull();
    expect(clipboardText(`c;${btoa("x".repeat(200_000))}`)).toBeNull();
  });

  it("links only to the web", () => {
    expect(webTarget("https://example.org/a")?.href).toBe("https://example.org/a");
    for (const bad of [
      "javascript:alert(1)",
      "file:///etc/passwd",
      "data:text/html,x",
      "vscode://x",
      "//x",
      "x",
    ]) {
      expect(webTarget(bad)).toBeNull();
    }
  });

  it("has single-line titles", () => {
    expect(plainTitle("a\u202eb\x1b[31m\nc")).toBe("ab[31mc");
    expect(plainTitle("x".repeat(500))).toHaveLength(200);
  });
});
