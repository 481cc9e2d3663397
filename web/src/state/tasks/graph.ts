import type { TaskId, TaskLine } from "../../protocol";
import { fits, type TaskQuery } from "./board";
import { type Layered, look, valuesOf } from "../../lib/layered";

/** How many tasks one picture shows at most. */
export const MOST_IN_PICTURE = 400;

/** Which tasks a picture shows. */
export type Scope = "open" | "all" | "around";

/** What is drawn: tasks that hang together, tasks that stand alone, and whether there were too many. */
export type Drawn = {
  linked: TaskLine[];
  alone: TaskLine[];
  edges: { from: TaskId; to: TaskId }[];
  /** How many there would be, when that is more than a picture can show. */
  tooMany: number | null;
};

/** Chooses what to draw; nothing is left out silently, and what was drawn before can be kept. */
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
    // What open work was waiting for says why it is where it is.
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

// What a task waits for and what waits for it, nearest first, as many as a picture shows.
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
