import type { ActivityStatus, AuthorKind, EscalationKind, LinkKind, Visibility } from "../protocol";

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

/** How an author that is not a person is called. */
export const AUTHOR_WORD: Record<AuthorKind, string | null> = {
  user: null,
  floor_manager: "floor manager",
  agent: "agent",
};

/** How a kind of link is called on screen. */
export const LINK_WORD: Record<LinkKind, string> = {
  workspace: "Workspace",
  session: "Session",
  branch: "Branch",
};

/** Why a person is asked, in a word or two and in a sentence. */
export const ESCALATION: Record<EscalationKind, { short: string; meaning: string }> = {
  question: { short: "Question", meaning: "A worker asks and goes on with your answer." },
  gave_up: { short: "Given up", meaning: "A worker gave the task up to a person." },
  refused: { short: "Refused", meaning: "The work was refused too often." },
  stuck: { short: "Stuck", meaning: "Nothing changes however often it is tried." },
  judgement: { short: "Judge", meaning: "Only a person can say whether this is good." },
  same_lines: { short: "Same lines", meaning: "Two outputs change the same lines." },
  contradiction: { short: "Contradiction", meaning: "Two outputs contradict each other." },
  uncheckable: { short: "Uncheckable", meaning: "The acceptance cannot be checked anywhere." },
  outage: {
    short: "Agent cannot work",
    meaning: "An agent cannot work on a machine: its provider, its login or its start.",
  },
};

/** The name that a text will have: its first visible line, without heading marks. */
export function titleOf(content: string): string {
  for (const line of content.split("\n")) {
    const title = line.trim().replace(/^#+/, "").trim();
    if (title) return [...title].length > 80 ? `${[...title].slice(0, 80).join("").trimEnd()}…` : title;
  }
  return "Untitled";
}

/** How many bytes a text has on the wire: the hub's limits are in bytes. */
export function bytes(text: string): number {
  return new TextEncoder().encode(text).length;
}
