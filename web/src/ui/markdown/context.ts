import { createContext } from "svelte";

/** A rendered part of a Markdown text. */
export type Part =
  | { kind: "text"; text: string }
  | { kind: "chip"; text: string; strong: boolean; title?: string }
  | { kind: "link"; text: string; href: string; title?: string };

/** Splits plain text into parts, so that Markdown need not know about mentions and references. */
export type Cut = (text: string) => Part[];

/** Passes the function to the text components. */
export const [getCut, setCut] = createContext<() => Cut>();
