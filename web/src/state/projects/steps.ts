import type { Floor } from "../hub/floor";
import type { Project } from "../../protocol";
import { startsFirst } from "../execution/sessions";
import type { StepsChoice } from "../shell/preferences.svelte";
import { canWrite } from "./access";

/** Whether a project shows its first steps: it is empty, and nobody dismissed them. */
export function showsSteps(floor: Floor, project: Project, choice: StepsChoice | null): boolean {
  if (!canWrite(floor.me, project)) return false;
  return choice ? choice === "shown" : isEmpty(floor, project.id);
}

/** Whether the overview shows the form that starts the first agent. */
export function showsFirstAgent(floor: Floor, choice: StepsChoice | null): boolean {
  if (!floor.me?.user) return false;
  return choice ? choice === "shown" : startsFirst(floor);
}

/** Whether nobody has worked in a project yet; a plan alone does not start anything. */
function isEmpty(floor: Floor, project: string): boolean {
  const within = (things: Iterable<{ project: string }>) =>
    [...things].some((thing) => thing.project === project);
  return !within(floor.sessions.values()) && !within(floor.workers.values());
}
