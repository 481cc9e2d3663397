/** A part of a chat text. */
export type Piece =
  { kind: "text"; text: string } | { kind: "mention"; name: string } | { kind: "reference"; id: string };

const REFERENCE = /#((?:act|prj|msg|tsk|ses)_[0-9a-f]{32}|[A-Z]{2,6}\d{0,4}-[1-9]\d{0,8})(?![A-Za-z0-9_])/y;

/** Splits a text into plain text, `@name` mentions and `#act_…` or `#CALC-12` references. */
export function pieces(text: string, names: readonly string[]): Piece[] {
  const found: Piece[] = [];
  let from = 0;
  const cut = (at: number, piece: Piece, length: number) => {
    if (at > from) found.push({ kind: "text", text: text.slice(from, at) });
    found.push(piece);
    from = at + length;
  };
  for (let at = 0; at < text.length; at++) {
    if (at < from) continue;
    if (text[at] === "@") {
      const name = mentionAt(text, at + 1, names);
      if (name !== null)
        cut(at, { kind: "mention", name: text.slice(at + 1, at + 1 + name.length) }, name.length + 1);
    } else if (text[at] === "#") {
      REFERENCE.lastIndex = at;
      const id = REFERENCE.exec(text)?.[1];
      if (id) cut(at, { kind: "reference", id }, id.length + 1);
    }
  }
  if (from < text.length) found.push({ kind: "text", text: text.slice(from) });
  return found;
}

function mentionAt(text: string, at: number, names: readonly string[]): string | null {
  let longest: string | null = null;
  for (const name of names) {
    if (name.length <= (longest?.length ?? 0)) continue;
    const here = text.slice(at, at + name.length);
    const after = text.slice(at + name.length, at + name.length + 2);
    if (here.toLowerCase() === name.toLowerCase() && !/^[\p{L}\p{N}]/u.test(after)) longest = name;
  }
  return longest;
}

/** The unfinished `@name` or `#reference` before the caret, for completion. */
export function unfinished(
  text: string,
  caret: number,
): { sign: "@" | "#"; query: string; start: number } | null {
  const before = text.slice(0, caret);
  const match = /(?:^|[\s(])([@#])([^\s@#]{0,40})$/u.exec(before);
  if (!match) return null;
  const [, sign, query = ""] = match;
  return { sign: sign as "@" | "#", query, start: caret - query.length - 1 };
}
