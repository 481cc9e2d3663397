import { afterEach, describe, expect, it, vi } from "vitest";
import { decodeHTMLStrict } from "./entities";
import { type Block, lex, type Leaf, MOST_PIECES, safeHref } from "./lex";

describe("safeHref", () => {
  it("allows only web and mail links", () => {
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

/** Texts that are expensive to parse, of about this length. */
const HOSTILE: Record<string, (length: number) => string> = {
  emphasis: (length) => "_a*".repeat(length / 3),
  stars: (length) => "*".repeat(length),
  "strong and not": (length) => "**a*".repeat(length / 4),
  strikes: (length) => "~~a~".repeat(length / 4),
  quotes: (length) => ">".repeat(length),
  lists: (length) => "- ".repeat(length / 2),
  items: (length) => "1. a\n".repeat(length / 5),
  brackets: (length) => "[".repeat(length),
  links: (length) => "[a](".repeat(length / 4),
  images: (length) => "![a](<b".repeat(length / 7),
  ticks: (length) => "`a``".repeat(length / 4),
  "almost an address": (length) => `${"a.".repeat(length / 2)}@`,
  addresses: (length) => "http://a.".repeat(length / 9),
  blanks: (length) => `a${" ".repeat(length)}b`,
  lines: (length) => "a\n".repeat(length / 2),
  tags: (length) => "<a ".repeat(length / 3),
  comments: (length) => "<!--".repeat(length / 4),
  backslashes: (length) => "\\".repeat(length),
  definitions: (length) => "[a]: b\n".repeat(length / 7),
  entities: (length) => "&a".repeat(length / 2),
  "a wide table": (length) =>
    `${"|a".repeat(length / 6)}|\n${"|-".repeat(length / 6)}|\n${"|\n".repeat(length / 6)}`,
};

describe("lex", () => {
  afterEach(() => vi.restoreAllMocks());

  /** The number of parser steps for a text. */
  function steps(text: string): number {
    const looks = [
      vi.spyOn(String.prototype, "charCodeAt"),
      vi.spyOn(RegExp.prototype, "exec"),
      vi.spyOn(RegExp.prototype, "test"),
    ];
    lex(text);
    const count = looks.reduce((sum, look) => sum + look.mock.calls.length, 0);
    vi.restoreAllMocks();
    return count;
  }

  it.each(Object.keys(HOSTILE))("parses %s in linear time", (name) => {
    const hostile = HOSTILE[name] as (length: number) => string;
    const [short, long] = [steps(hostile(1_000)), steps(hostile(4_000))];
    expect(long).toBeLessThan(5 * short + 10_000);
    expect(long).toBeLessThan(400 * 4_000);
  });

  const size = (tokens: (Block | Leaf)[]): number =>
    tokens.reduce((sum, token) => {
      if (token.type === "list")
        return sum + 1 + token.items.reduce((all, item) => all + 1 + size(item.tokens), 0);
      if (token.type === "table") {
        return sum + 1 + [token.header, ...token.rows].flat().reduce((all, cell) => all + 1 + size(cell), 0);
      }
      return sum + 1 + ("tokens" in token ? size(token.tokens) : 0);
    }, 0);

  it.each(Object.keys(HOSTILE))("limits the number of elements for %s", (name) => {
    const blocks = lex((HOSTILE[name] as (length: number) => string)(64 * 1024));
    expect(size(blocks)).toBeLessThanOrEqual(MOST_PIECES + 1);
    expect(JSON.stringify(blocks).length).toBeLessThan(40 * 64 * 1024);
  });

  const text = (text: string): Leaf => ({ type: "text", text });

  it("parses common Markdown", () => {
    expect(lex("# A\n\nb **c** `d`\ne ~~f~~ [g](https://example.org)")).toEqual([
      { type: "heading", depth: 1, tokens: [text("A")] },
      {
        type: "paragraph",
        tokens: [
          text("b "),
          { type: "strong", tokens: [text("c")] },
          text(" "),
          { type: "code", text: "d" },
          { type: "br" },
          text("e "),
          { type: "del", tokens: [text("f")] },
          text(" "),
          { type: "link", href: "https://example.org", tokens: [text("g")] },
        ],
      },
    ]);
    expect(lex("2. a\n   - [x] b\n   - [ ] c\n\n> d\n\n```js\ne\n```\n\n---")).toEqual([
      {
        type: "list",
        ordered: true,
        start: 2,
        items: [
          {
            task: false,
            checked: false,
            tokens: [
              { type: "paragraph", tokens: [text("a")] },
              {
                type: "list",
                ordered: false,
                start: 1,
                items: [
                  { task: true, checked: true, tokens: [{ type: "paragraph", tokens: [text("b")] }] },
                  { task: true, checked: false, tokens: [{ type: "paragraph", tokens: [text("c")] }] },
                ],
              },
            ],
          },
        ],
      },
      { type: "quote", tokens: [{ type: "paragraph", tokens: [text("d")] }] },
      { type: "code", text: "e" },
      { type: "rule" },
    ]);
    expect(lex("|a|b|\n|-|-|\n|c|*d*|")).toEqual([
      {
        type: "table",
        header: [[text("a")], [text("b")]],
        rows: [[[text("c")], [{ type: "em", tokens: [text("d")] }]]],
      },
    ]);
    expect(lex("see https://example.org/a and main.rs")).toEqual([
      {
        type: "paragraph",
        tokens: [
          text("see "),
          { type: "link", href: "https://example.org/a", tokens: [text("https://example.org/a")] },
          text(" and main.rs"),
        ],
      },
    ]);
  });

  it("decodes common entities and no inherited property names", () => {
    expect(["&amp;", "&rarr;", "&zzz;", "&constructor;"].map(decodeHTMLStrict)).toEqual([
      "&",
      "→",
      "&zzz;",
      "&constructor;",
    ]);
  });

  it("shows text that is nested too deep as source, without losing a word", () => {
    const deep = `${"> ".repeat(200)}end`;
    expect(JSON.stringify(lex(deep))).toContain(deep);
  });

  it("shows HTML and unsafe links as source", () => {
    for (const typed of ["<img src=x onerror=alert(1)>", "[a](javascript:alert(1))", "[a](/api/logout)"]) {
      expect(lex(typed)).toEqual([{ type: "paragraph", tokens: [text(typed)] }]);
    }
  });
});
