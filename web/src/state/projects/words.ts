import type { ActivityStatus, LinkKind, Visibility } from "../../protocol";

/** How a status is called on screen. */
export const STATUS_WORD: Record<ActivityStatus, string> = {
  active: "Active",
  blocked: "Blocked",
  completed: "Completed",
  abandoned: "Abandoned",
};

/** Every status, in the order in which it is offered. */
export const STATUSES = Object.keys(STATUS_WORD) as ActivityStatus[];

/** How a visibility is called on screen, and what it means. */
export const VISIBILITY: Record<
  Visibility,
  { word: string; meaning: string; icon: "lock" | "eye" | "pencil" }
> = {
  private: { word: "Private", meaning: "Only you see it.", icon: "lock" },
  "read-only": {
    word: "Read-only",
    meaning: "Others see intent, plan, status, blockers and chat.",
    icon: "eye",
  },
  "read-write": {
    word: "Read-write",
    meaning: "Others can also write in it and spawn sessions.",
    icon: "pencil",
  },
};

/** Every visibility, from closed to open. */
export const VISIBILITIES = Object.keys(VISIBILITY) as Visibility[];

/** How a kind of link is called on screen. */
export const LINK_WORD: Record<LinkKind, string> = {
  workspace: "Workspace",
  session: "Session",
  branch: "Branch",
};

/** The name that a text will have: its first visible line, without heading marks. */
export function titleOf(content: string): string {
  for (const line of content.split("\n")) {
    const title = line.trim().replace(/^#+/, "").trim();
    if (title) return [...title].length > 80 ? `${[...title].slice(0, 80).join("").trimEnd()}…` : title;
  }
  return "Untitled";
}
