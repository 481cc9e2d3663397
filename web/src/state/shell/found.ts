import type { SearchHit, SearchKind, TerminalHit } from "../../protocol";
import { pathOf } from "./route";

/** Kinds in words, for headings. */
export const KINDS: Record<SearchKind, string> = {
  project: "Projects",
  activity: "Activities",
  task: "Tasks",
  message: "Messages",
  session: "Sessions",
  recording: "Recordings",
};

/** The page of a found thing; a message's is the chat at that message. */
export function pathOfHit(hit: SearchHit): string {
  switch (hit.kind) {
    case "project":
      return pathOf({ name: "project", project: hit.project });
    case "activity":
      return pathOf({ name: "activity", project: hit.project, activity: hit.id });
    case "task":
      return pathOf({ name: "task", task: hit.id });
    case "message":
      return pathOf({ name: "project", project: hit.project, message: hit.number });
    case "session":
      return pathOf({ name: "session", session: hit.id });
    case "recording":
      return pathOf({ name: "recording", session: hit.id, at: 0 });
  }
}

/** The recording at the time when a line was on the screen. */
export function pathOfLine(hit: TerminalHit): string {
  return pathOf({ name: "recording", session: hit.session, at: hit.at_ms });
}

/** Groups by kind: the kind of the best hit first; within a kind the order stays. */
export function byKind(hits: readonly SearchHit[]): SearchHit[] {
  const order = [...new Set(hits.map((hit) => hit.kind))];
  return order.flatMap((kind) => hits.filter((hit) => hit.kind === kind));
}
