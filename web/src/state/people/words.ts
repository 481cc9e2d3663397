import type { AuthorKind } from "../../protocol";

/** The label of an author who is not a person. */
export const AUTHOR_WORD: Record<AuthorKind, string | null> = {
  user: null,
  floor_manager: "floor manager",
  agent: "agent",
};
