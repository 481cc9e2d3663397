import { describe, expect, it } from "vitest";
import { lex, safeHref } from "./lex";

describe("safeHref", () => {
  it("lets through only what leaves for the web or the mail program", () => {
    expect(safeHref("https://example.org/a?b#c")).toBe("https://example.org/a?b#c");
    expect(safeHref("mailto:ann@example.org")).toBe("mailto:ann@example.org");
  });

  it.each([
    "javascript:alert(1)",
    "JaVaScRiPt:alert(1)",
    " javascript:alert(1)",
    "java\tscript:alert(1)",
    "data:text/html,<script>alert(1)</script>",
    "vbscript:x",
    "blob:https://example.org/x",
    "file:///etc/passwd",
    "/api/logout",
    "//relative.invalid/x",
    "https://user:secret@example.org/",
    "",
  ])("refuses %s", (href) => expect(safeHref(href)).toBeNull());
});

describe("lex", () => {
  it("survives what is made to break it", () => {
    for (const text of [
      ">".repeat(16_000),
      "[".repeat(16_000),
      "- ".repeat(5_000),
      "*".repeat(16_000),
      "`".repeat(16_000),
    ]) {
      const before = performance.now();
      expect(lex(text).length).toBeGreaterThan(0);
      expect(performance.now() - before).toBeLessThan(2_000);
    }
  });

  it("makes raw HTML a token of its own and never anything else", () => {
    expect(lex("<img src=x onerror=alert(1)>").map((token) => token.type)).toEqual(["html"]);
  });
});
