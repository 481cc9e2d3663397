import type { Handoff, HandoffWriter } from "../../protocol";

/** Whether a handoff has a finished document. */
export function comparable(handoff: Handoff): boolean {
  return handoff.hash !== null;
}

/** Selects or deselects a handoff; at most two are selected, the newest choices. */
export function pick(picked: readonly string[], id: string): string[] {
  return picked.includes(id) ? picked.filter((one) => one !== id) : [...picked, id].slice(-2);
}

/** The facts of a document whose names need other words. */
export const FACT_WORD: Readonly<Record<string, string>> = {
  fork: "started from",
  head: "checked out",
  saved: "saved as",
  uncommitted: "uncommitted files",
  more_uncommitted: "more uncommitted files",
};

/** Who wrote a document. */
export function writtenBy(by: HandoffWriter | null): string {
  if (by === "agent") return "written by its agent";
  if (by === "recording") return "from the recording";
  return by === "person" ? "edited by a person" : "facts only";
}
