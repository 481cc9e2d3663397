import type { Landing, LandingState, LandMode, Project, Me } from "../../protocol";
import type { Floor } from "../hub/floor";
import type { Look } from "../look";

/** The look of a landing's state. */
export const LANDING: Record<LandingState, Look<"starting" | "completed" | "checking" | "failed">> = {
  publishing: { tone: "starting", word: "Publishing", meaning: "A runner is pushing the branch." },
  published: { tone: "completed", word: "Published", meaning: "The branch is at the repository." },
  queued: { tone: "checking", word: "In the merge queue", meaning: "The branch waits in the merge queue." },
  landed: { tone: "completed", word: "Landed", meaning: "The work is on the target branch." },
  refused: { tone: "failed", word: "Not landed", meaning: "It could not be published or merged." },
};

/** What happens to accepted work, for a choice. */
export const MODE: Record<LandMode, { word: string; hint: string }> = {
  by_hand: { word: "By hand", hint: "A person presses Land." },
  automatic: { word: "Automatically", hint: "Accepted work goes through the merge queue by itself." },
  push_only: { word: "Publish only", hint: "The branch appears at the repository; a person merges it." },
};

/** The newest landing of a task, a workspace's branch or an activity. */
export function landingOf(
  floor: Pick<Floor, "landings">,
  of: { task?: string; branch?: string; activity?: string },
): Landing | undefined {
  const fits = (one: Landing) =>
    (of.task === undefined || one.task === of.task) &&
    (of.branch === undefined || one.branch === of.branch) &&
    (of.activity === undefined || one.activity === of.activity);
  let newest: Landing | undefined;
  for (const one of floor.landings.values()) if (fits(one) && (!newest || one.id > newest.id)) newest = one;
  return newest;
}

/** Whether this person may land work: its owner, and the project's. */
export function mayLand(me: Me | null, project: Project | undefined, owner: string | undefined): boolean {
  const id = me?.user?.id;
  return id !== undefined && (id === project?.owner.id || id === owner);
}

/** Whether there is anything to ask for: nothing is on its way, and it has not landed. */
export function canAsk(landing: Landing | undefined): boolean {
  return !landing || landing.state === "published" || landing.state === "refused";
}
