import type {
  Activity,
  Landing,
  LandingState,
  LandMode,
  Me,
  Project,
  Report,
  TaskLine,
  Workspace,
} from "../../protocol";
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

/** What a landing is known by: a task, an activity, or a workspace's branch. */
export type LandingOf = { project: string; task?: string; branch?: string; activity?: string };

/** The newest landing of a task, a workspace's branch or an activity. Branches have the same name in many projects. */
export function landingOf(floor: Pick<Floor, "landings">, of: LandingOf): Landing | undefined {
  let newest: Landing | undefined;
  for (const one of landingsOf(floor, of)) if (!newest || one.id > newest.id) newest = one;
  return newest;
}

function landingsOf(floor: Pick<Floor, "landings">, of: LandingOf): Landing[] {
  return [...floor.landings.values()].filter(
    (one) =>
      one.project === of.project &&
      (of.task === undefined || one.task === of.task) &&
      (of.branch === undefined || one.branch === of.branch) &&
      (of.activity === undefined || one.activity === of.activity),
  );
}

/** Whether this person may land work: its owner, and the project's. */
export function mayLand(me: Me | null, project: Project | undefined, owner: string | undefined): boolean {
  const id = me?.user?.id;
  return id !== undefined && (id === project?.owner.id || id === owner);
}

/** Whether there is anything to ask for: work that never landed, was only published or refused, or is newer. */
export function canAsk(landing: Landing | undefined, newer: boolean): boolean {
  return newer || !landing || landing.state === "published" || landing.state === "refused";
}

/** Whether a task's accepted work came after its landing was asked for: it was reopened and done again. */
export function isNewerReport(
  landing: Landing | undefined,
  accepted: Pick<Report, "at"> | undefined,
): boolean {
  return landing !== undefined && accepted !== undefined && accepted.at > landing.created_at;
}

/** Whether a workspace has commits that its landing does not have; not while that is being published. */
export function isNewerWork(landing: Landing | undefined, workspace: Pick<Workspace, "stats">): boolean {
  if (!landing?.commit || landing.state === "publishing") return false;
  const head = workspace.stats?.head;
  return head !== undefined && head !== landing.commit;
}

/**
 * Whether an activity has work that its newest landing does not cover: a done task that has not landed or was done
 * again, or, without tasks, a workspace with newer commits.
 */
export function hasMoreToLand(
  floor: Pick<Floor, "landings" | "workspaces">,
  activity: Pick<Activity, "id" | "project">,
  done: readonly Pick<TaskLine, "id" | "project" | "updated_at">[],
): boolean {
  const { project } = activity;
  if (done.length > 0)
    return done.some((task) => {
      const landing = landingOf(floor, { project, task: task.id });
      return canAsk(landing, landing !== undefined && task.updated_at > landing.updated_at);
    });
  return [...floor.workspaces.values()].some((one) => {
    if (one.activity !== activity.id || one.status !== "ready" || !one.branch || !one.stats?.ahead)
      return false;
    const landing = landingOf(floor, { project, branch: one.branch });
    return canAsk(landing, isNewerWork(landing, one));
  });
}

const ON_GITHUB =
  /^(?:https:\/\/github\.com\/|ssh:\/\/git@github\.com\/|git@github\.com:)([^/]+)\/([^/]+?)(?:\.git)?\/?$/u;

/** Whether a repository is on GitHub, where pull requests can be opened; runners judge in the same way. */
export function isOnGitHub(location: string): boolean {
  return ON_GITHUB.test(location);
}
