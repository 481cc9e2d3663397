import { createContext } from "svelte";

/** What a piece of text in markdown may turn out to be. */
export type Part =
  | { kind: "text"; text: string }
  | { kind: "chip"; text: string; strong: boolean; title?: string }
  | { kind: "link"; text: string; href: string; title?: string };

/** Cuts plain text into parts: how mentions and references get their look, without markdown knowing of them. */
export type Cut = (text: string) => Part[];

/** Hands the cutter down to the text leaves. */
export const [getCut, setCut] = createContext<() => Cut>();
