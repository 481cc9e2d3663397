import type { Activity } from "../../protocol";
import { failedSession, isOver } from "../execution/sessions";
import type { Floor } from "../hub/floor";
import { isUp } from "../workers/workers";

/** Where lists show an activity: as open work, as ended without being closed, or as finished. */
export type Group = "open" | "ended" | "finished";

type Facts = { running: Set<string>; ended: Set<string>; worked: Set<string> };
const known = new WeakMap<Floor["sessions"], Facts>();

/** The group of an activity; the same as in `shopfloor activity list`. A blocked one stays open. */
export function groupOf(floor: Floor, activity: Pick<Activity, "id" | "project" | "status">): Group {
  if (activity.status === "completed" || activity.status === "abandoned") return "finished";
  if (activity.status === "blocked") return "open";
  const { running, ended, worked } = factsOf(floor.sessions);
  if (running.has(activity.id) || !ended.has(activity.id)) return "open";
  // A worker starts its next session soon.
  const continues = worked.has(activity.id) && hasWorkers(floor, activity.project);
  return continues ? "open" : "ended";
}

/** The number of activities whose last session failed. */
export function failedIn(floor: Floor, activities: readonly Activity[]): number {
  return activities.filter((one) => failedSession(floor, one.id)).length;
}

function hasWorkers(floor: Floor, project: string): boolean {
  return [...floor.workers.values()].some((one) => one.project === project && isUp(one));
}

// Cached per state, because hundreds of rows ask for it.
function factsOf(sessions: Floor["sessions"]): Facts {
  let facts = known.get(sessions);
  if (!facts) {
    facts = { running: new Set(), ended: new Set(), worked: new Set() };
    for (const one of sessions.values()) {
      (isOver(one) ? facts.ended : facts.running).add(one.activity);
      if (one.worker) facts.worked.add(one.activity);
    }
    known.set(sessions, facts);
  }
  return facts;
}
