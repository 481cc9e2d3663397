import MarkdownIt, { type Token } from "markdown-it";

/** Maximum nesting of lists, quotes and emphasis; deeper levels are shown as source. */
export const DEEPEST = 12;
/** Maximum number of formatted elements in a text; the rest is shown as source. */
export const MOST_PIECES = 20_000;

/** An inline element. */
export type Leaf =
  | { type: "text"; text: string }
  | { type: "strong"; tokens: Leaf[] }
  | { type: "em"; tokens: Leaf[] }
  | { type: "del"; tokens: Leaf[] }
  | { type: "code"; text: string }
  | { type: "br" }
  | { type: "link"; href: string; tokens: Leaf[] }
  | { type: "image"; href: string; text: string };

/** A list item. */
export type Item = { task: boolean; checked: boolean; tokens: Block[] };

/** A block element. */
export type Block =
  | { type: "paragraph"; tokens: Leaf[] }
  | { type: "heading"; depth: number; tokens: Leaf[] }
  | { type: "code"; text: string }
  | { type: "quote"; tokens: Block[] }
  | { type: "list"; ordered: boolean; start: number; items: Item[] }
  | { type: "table"; header: Leaf[][]; rows: Leaf[][][] }
  | { type: "rule" }
  | { type: "plain"; text: string };

/** A Markdown parser with linear running time and without HTML. */
const reader = new MarkdownIt({ html: false, breaks: true, linkify: true });
// A name with a dot is more often a file than a URL.
reader.linkify.set({ fuzzyLink: false, fuzzyIP: false });
// Unsafe links stay text.
reader.validateLink = (href) => safeHref(href) !== null;

/** Parses a text into Markdown elements; nothing here creates HTML. */
export function lex(text: string): Block[] {
  return new Builder(text).all();
}

/** Builds a tree from the parser's flat token list. */
class Builder {
  private readonly lines: string[];
  private readonly tokens: Token[];
  private at = 0;
  private pieces = 0;

  constructor(text: string) {
    this.lines = text.split(/\r\n?|\n/);
    this.tokens = reader.parse(text, {});
  }

  all(): Block[] {
    const blocks: Block[] = [];
    while (this.at < this.tokens.length) {
      const line = this.tokens[this.at]?.map?.[0] ?? 0;
      const block = this.block(0);
      if (this.pieces > MOST_PIECES) {
        blocks.push({ type: "plain", text: this.lines.slice(line).join("\n") });
        break;
      }
      if (block) blocks.push(block);
    }
    return blocks;
  }

  /** The blocks up to the end of the current container. */
  private inside(depth: number): Block[] {
    const blocks: Block[] = [];
    for (let token = this.tokens[this.at]; token && token.nesting >= 0; token = this.tokens[this.at]) {
      const block = this.block(depth);
      if (block) blocks.push(block);
    }
    this.at += 1;
    return blocks;
  }

  private block(depth: number): Block | null {
    const token = this.tokens[this.at] as Token;
    this.at += 1;
    this.pieces += 1;
    switch (token.type) {
      case "paragraph_open":
        return { type: "paragraph", tokens: this.line() };
      case "heading_open":
        return { type: "heading", depth: Number(token.tag.slice(1)), tokens: this.line() };
      case "fence":
      case "code_block":
        return { type: "code", text: token.content.replace(/\n$/, "") };
      case "hr":
        return { type: "rule" };
      case "blockquote_open":
      case "bullet_list_open":
      case "ordered_list_open":
        if (depth >= DEEPEST) return this.typed(token);
        if (token.type === "blockquote_open") return { type: "quote", tokens: this.inside(depth + 1) };
        return this.list(token, depth + 1);
      case "table_open":
        return this.table();
      default:
        return token.nesting > 0 ? this.typed(token) : null;
    }
  }

  /** The source of the current container. */
  private typed(opened: Token): Block {
    this.close();
    const [from, to] = opened.map ?? [0, 0];
    return { type: "plain", text: this.lines.slice(from, to).join("\n") };
  }

  /** Skips to the end of the current container. */
  private close(): void {
    for (let open = 1; open > 0 && this.at < this.tokens.length; this.at += 1) {
      open += this.tokens[this.at]?.nesting ?? 0;
    }
  }

  private list(opened: Token, depth: number): Block {
    const ordered = opened.type === "ordered_list_open";
    const items: Item[] = [];
    while (this.tokens[this.at]?.type === "list_item_open") {
      this.at += 1;
      this.pieces += 1;
      items.push(asTask(this.inside(depth)));
    }
    this.at += 1;
    return { type: "list", ordered, start: Number(opened.attrGet("start") ?? 1), items };
  }

  private table(): Block {
    const rows: Leaf[][][] = [];
    for (let open = 1; open > 0 && this.at < this.tokens.length;) {
      const token = this.tokens[this.at] as Token;
      this.at += 1;
      open += token.nesting;
      if (token.type === "tr_open") rows.push([]);
      if (token.type === "inline") {
        this.pieces += 1;
        rows.at(-1)?.push(this.leaves(token));
      }
    }
    return { type: "table", header: rows[0] ?? [], rows: rows.slice(1) };
  }

  /** The inline content of the current paragraph or heading. */
  private line(): Leaf[] {
    const token = this.tokens[this.at];
    this.close();
    return token?.type === "inline" ? this.leaves(token) : [];
  }

  private leaves(line: Token): Leaf[] {
    const open: Leaf[][] = [[]];
    let hidden = 0;
    for (const token of line.children ?? []) {
      this.pieces += 1;
      const here = open.at(-1) as Leaf[];
      if (token.nesting > 0) {
        const leaf = opens(token);
        // Below the maximum depth, keep the text.
        if (!leaf || open.length > DEEPEST || hidden > 0) hidden += 1;
        else {
          here.push(leaf);
          open.push(leaf.tokens);
        }
      } else if (token.nesting < 0) {
        if (hidden > 0) hidden -= 1;
        else if (open.length > 1) open.pop();
      } else {
        here.push(leafOf(token));
      }
    }
    return open[0] as Leaf[];
  }
}

function opens(token: Token): (Leaf & { tokens: Leaf[] }) | null {
  switch (token.type) {
    case "strong_open":
      return { type: "strong", tokens: [] };
    case "em_open":
      return { type: "em", tokens: [] };
    case "s_open":
      return { type: "del", tokens: [] };
    case "link_open":
      return { type: "link", href: String(token.attrGet("href") ?? ""), tokens: [] };
    default:
      return null;
  }
}

function leafOf(token: Token): Leaf {
  switch (token.type) {
    case "code_inline":
      return { type: "code", text: token.content };
    case "softbreak":
    case "hardbreak":
      return { type: "br" };
    case "image":
      return { type: "image", href: String(token.attrGet("src") ?? ""), text: token.content };
    default:
      return { type: "text", text: token.content };
  }
}

/** Detects a task list item by its checkbox. */
function asTask(tokens: Block[]): Item {
  const first = tokens[0];
  const text = first?.type === "paragraph" ? first.tokens[0] : undefined;
  const box = text?.type === "text" ? /^\[([ xX])\] +/.exec(text.text) : null;
  if (!box || text?.type !== "text" || first?.type !== "paragraph")
    return { task: false, checked: false, tokens };
  const rest: Leaf[] = [{ type: "text", text: text.text.slice(box[0].length) }, ...first.tokens.slice(1)];
  return {
    task: true,
    checked: box[1] !== " ",
    tokens: [{ type: "paragraph", tokens: rest }, ...tokens.slice(1)],
  };
}

/** The URL of a safe link, or null. */
export function safeHref(href: string): string | null {
  try {
    const url = new URL(href, "https://relative.invalid");
    if (url.hostname === "relative.invalid" || url.username || url.password) return null;
    return url.protocol === "https:" || url.protocol === "http:" || url.protocol === "mailto:"
      ? url.href
      : null;
  } catch {
    return null;
  }
}
