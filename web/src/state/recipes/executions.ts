import type { Execution, Project, Recipe, Schedule } from "../../protocol";
import type { Floor } from "../hub/floor";
import { canWrite } from "../projects/access";

/** Whether an execution is over; a failed one can be continued. */
export function isOver(execution: Pick<Execution, "status">): boolean {
  return ["completed", "failed", "cancelled"].includes(execution.status);
}

/** The executions of a project: those that need a person, then open ones, then the newest. */
export function executionsOf(floor: Floor, project: string): Execution[] {
  return [...floor.executions.values()].filter((one) => one.project === project).sort(byUrgency);
}

function byUrgency(a: Execution, b: Execution): number {
  return rank(a) - rank(b) || (a.created_at < b.created_at ? 1 : -1);
}

function rank(one: Execution): number {
  if (isOver(one)) return 2;
  return one.needs_person ? 0 : 1;
}

/** Open executions that need a person, where this person may answer; oldest first. */
export function askingExecutions(floor: Floor): { execution: Execution; project: Project }[] {
  const found = [];
  for (const execution of floor.executions.values()) {
    const project = floor.projects.get(execution.project);
    if (!project || !execution.needs_person || isOver(execution) || execution.status === "paused") continue;
    if (canWrite(floor.me, project)) found.push({ execution, project });
  }
  return found.sort((a, b) => (a.execution.created_at < b.execution.created_at ? -1 : 1));
}

/** The schedules of a project: due ones by their next time, then the rest. */
export function schedulesOf(floor: Floor, project: string): Schedule[] {
  const next = (one: Schedule) => (one.paused ? "~" : (one.next[0] ?? "~"));
  return [...floor.schedules.values()]
    .filter((one) => one.project === project)
    .sort((a, b) => (next(a) < next(b) ? -1 : next(a) > next(b) ? 1 : a.name < b.name ? -1 : 1));
}

/** The fetched recipes of a project, with those that changed since. */
export function recipesOf(floor: Floor, project: string, fetched: readonly Recipe[]): Recipe[] {
  const found = new Map(fetched.map((one) => [one.id, one]));
  for (const one of floor.recipes.values()) {
    const known = found.get(one.id);
    if (one.project === project && (!known || newer(one, known))) found.set(one.id, one);
  }
  return [...found.values()].sort(
    (a, b) => Number(a.disabled) - Number(b.disabled) || (a.name < b.name ? -1 : 1),
  );
}

function newer(one: Recipe, known: Recipe): boolean {
  return one.number >= known.number;
}
