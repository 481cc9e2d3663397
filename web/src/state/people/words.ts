import type { AuthorKind } from "../../protocol";

/** How an author that is not a person is called. */
export const AUTHOR_WORD: Record<AuthorKind, string | null> = {
  user: null,
  floor_manager: "floor manager",
  agent: "agent",
};
