import type { TaskId, TaskLine } from "../../protocol";
import { fits, type TaskQuery } from "./board";
import { type Layered, look, valuesOf } from "../../lib/layered";

/** Maximum number of tasks in the graph. */
export const MOST_IN_PICTURE = 400;

/** Which tasks the graph shows. */
export type Scope = "open" | "all" | "around";

/** The content of the graph: connected tasks, single tasks, and whether there are too many. */
export type Drawn = {
  linked: TaskLine[];
  alone: TaskLine[];
  edges: { from: TaskId; to: TaskId }[];
  /** The number of tasks, when the graph cannot show them all. */
  tooMany: number | null;
};

/** Selects the tasks to draw; `kept` ones stay. It draws all matching tasks or none. */
export function draw(
  tasks: Layered<TaskId, TaskLine>,
  query: TaskQuery,
  scope: Scope,
  around: TaskId | null,
  kept: ReadonlySet<TaskId> = new Set(),
): Drawn {
  const chosen = new Map<TaskId, TaskLine>();
  if (scope === "around" && around) for (const task of near(tasks, around)) chosen.set(task.id, task);
  else {
    for (const task of valuesOf(tasks))
      if (kept.has(task.id) || (fits(task, query) && (scope === "all" || isOpen(task))))
        chosen.set(task.id, task);
    // Add the dependencies of open tasks.
    if (scope === "open")
      for (const task of [...chosen.values()])
        for (const dep of task.deps) {
          const known = look(tasks, dep);
          if (known && fits(known, query)) chosen.set(dep, known);
        }
  }
  if (chosen.size > MOST_IN_PICTURE) return { linked: [], alone: [], edges: [], tooMany: chosen.size };
  const edges = [...chosen.values()].flatMap((task) =>
    task.deps.filter((dep) => chosen.has(dep)).map((dep) => ({ from: dep, to: task.id })),
  );
  const ends = new Set(edges.flatMap(({ from, to }) => [from, to]));
  const all = [...chosen.values()];
  return {
    linked: all.filter((task) => ends.has(task.id)),
    alone: all.filter((task) => !ends.has(task.id)),
    edges,
    tooMany: null,
  };
}

function isOpen(task: TaskLine): boolean {
  return task.status !== "done" && task.status !== "cancelled";
}

// The dependencies and dependants of a task, nearest first, up to the maximum.
function near(tasks: Layered<TaskId, TaskLine>, around: TaskId): TaskLine[] {
  const after = new Map<TaskId, TaskId[]>();
  for (const task of valuesOf(tasks))
    for (const dep of task.deps) {
      const known = after.get(dep);
      if (known) known.push(task.id);
      else after.set(dep, [task.id]);
    }
  const seen = new Set([around]);
  const walk = (start: TaskId, next: (id: TaskId) => readonly TaskId[]) => {
    const queue = [start];
    for (let at = 0; at < queue.length && seen.size < MOST_IN_PICTURE; at++)
      for (const id of next(queue[at] ?? ""))
        if (!seen.has(id) && seen.size < MOST_IN_PICTURE) {
          seen.add(id);
          queue.push(id);
        }
  };
  walk(around, (id) => look(tasks, id)?.deps ?? []);
  walk(around, (id) => after.get(id) ?? []);
  return [...seen].flatMap((id) => look(tasks, id) ?? []);
}
