import type { ActivityStatus, LinkKind, Visibility } from "../../protocol";

/** The statuses of activities. */
export const STATUS_WORD: Record<ActivityStatus, string> = {
  active: "Active",
  blocked: "Blocked",
  completed: "Completed",
  abandoned: "Abandoned",
};

/** All statuses, in the order of the menu. */
export const STATUSES = Object.keys(STATUS_WORD) as ActivityStatus[];

/** The visibilities of projects. */
export const VISIBILITY: Record<
  Visibility,
  { word: string; meaning: string; icon: "lock" | "eye" | "pencil" }
> = {
  private: { word: "Private", meaning: "Only you can see it.", icon: "lock" },
  "read-only": {
    word: "Read-only",
    meaning: "Others can see the description, activities, tasks and chat.",
    icon: "eye",
  },
  "read-write": {
    word: "Read-write",
    meaning: "Others can also write and start sessions.",
    icon: "pencil",
  },
};

/** All visibilities, from private to public. */
export const VISIBILITIES = Object.keys(VISIBILITY) as Visibility[];

/** The types of links. */
export const LINK_WORD: Record<LinkKind, string> = {
  workspace: "Workspace",
  session: "Session",
  branch: "Branch",
};

/** The name in a text: its first non-empty line, without heading marks. */
export function titleOf(content: string): string {
  for (const line of content.split("\n")) {
    const title = line.trim().replace(/^#+/, "").trim();
    if (title) return [...title].length > 80 ? `${[...title].slice(0, 80).join("").trimEnd()}…` : title;
  }
  return "Untitled";
}
