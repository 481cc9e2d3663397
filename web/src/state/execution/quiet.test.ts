import { describe, expect, it } from "vitest";
import { Quiet } from "./quiet";

function quiet(text: string): string {
  const whole = new Quiet().push(text);
  const filter = new Quiet();
  const pieces = Array.from({ length: text.length }, (_, at) => filter.push(text.charAt(at))).join("");
  expect(pieces).toBe(whole);
  return whole;
}

// The same cases as in crates/terminal/src/screen/quiet.rs.
describe("what a terminal would answer", () => {
  const ASKED = [
    "\x1b[c",
    "\x1b[>c",
    "\x1b[6n",
    "\x1b[?2026$p",
    "\x1b]11;?\x07",
    "\x1b]52;c;aGk=\x1b\\",
    "\x1bP$qm\x1b\\",
    "\x1b[21t",
    "\x1b[?u",
    "\x05",
    "\x1bZ",
    "\x1b[>q",
    "\x1b]9;hi\x07",
    "\x1b_Ga=q\x1b\\",
    "\u009b6n",
    "\u009d52;c;aGk=\u009c",
    "\x1b]0;x\u009d52;c;aGk=\x07",
    "\x1b\x7f]52;c;aGk=\x07",
    "\x1b\x05[6n",
  ];
  it.each(ASKED)("is taken out: %j", (asked) => {
    expect(quiet(`a${asked}b`)).toBe("ab");
  });

  it("the rest stays", () => {
    expect(quiet("a\x1b\n]52;c;aGk=\x07b")).toBe("a\nb");
    expect(quiet("a\x1b\u009d52;c;aGk=\x07\u009b1mb")).toBe("a\x1b[1mb");
    const shown =
      "\x1b[1;31mred\x1b[0m\x1b]2;title\x07\x1b]8;;https://example.org\x1b\\x\x1b]8;;\x1b\\\x1b[2J\x1b[?1049h\x1b(0ä§🦀\x1b7\x1b[2 q\x1b[4S";
    expect(quiet(shown)).toBe(shown);
  });
});
