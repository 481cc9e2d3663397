import { Marked, type Token } from "marked";

const marked = new Marked({ gfm: true, breaks: true });

/** How deep lists and quotes may nest; deeper is shown as it was typed. */
export const DEEPEST = 12;

/** A text as markdown tokens; what cannot be read as markdown stays plain text. Tokens are data: nothing here makes HTML. */
export function lex(text: string): Token[] {
  try {
    return marked.lexer(text);
  } catch {
    // Thousands of nested quotes overflow the lexer's stack; the words still count.
    return [
      { type: "paragraph", raw: text, text, tokens: [{ type: "text", raw: text, text } as Token] } as Token,
    ];
  }
}

/** The address of a link that is safe to follow, or null. */
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
