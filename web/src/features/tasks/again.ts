import type { NamedTask, TaskAdd, TaskEdit, TaskLine } from "../../protocol";
import { titleOf } from "../../state/projects/words";

/** A plan, with those of its tasks that are open already. */
export type Sorted = {
  add: readonly TaskAdd[];
  update: readonly { there: TaskLine; task: TaskAdd }[];
};

const OVER: ReadonlySet<TaskLine["status"]> = new Set(["done", "failed", "cancelled"]);

/** Finds the tasks of a plan that are open already, by title; of several the oldest. */
export function sorted(tasks: readonly TaskAdd[], lines: Iterable<TaskLine>): Sorted {
  const open = new Map<string, TaskLine>();
  for (const line of [...lines].sort((a, b) => (a.id < b.id ? -1 : 1))) {
    const title = line.title.toLowerCase();
    if (!OVER.has(line.status) && !open.has(title)) open.set(title, line);
  }
  const add: TaskAdd[] = [];
  const update: { there: TaskLine; task: TaskAdd }[] = [];
  for (const task of tasks) {
    const title = titleOf(task.description).toLowerCase();
    const there = open.get(title);
    open.delete(title);
    if (there) update.push({ there, task });
    else add.push(task);
  }
  return { add, update };
}

/** The ids of tasks by their names in the plan. */
export type Ids = ReadonlyMap<string, string>;

/** The ids of tasks that are there, and of those that were just added. */
export function idsOf(update: Sorted["update"], added: readonly NamedTask[] = []): Ids {
  const there = update.flatMap(({ there, task }): [string, string][] =>
    task.id ? [[task.id, there.id]] : [],
  );
  return new Map([...there, ...added.map(({ name, task }): [string, string] => [name, task])]);
}

/** New tasks that refer to existing ones by id. */
export function referring(tasks: readonly TaskAdd[], ids: Ids): TaskAdd[] {
  return tasks.map((task) => ({ ...task, ...(task.deps ? { deps: depsOf(task, ids) } : {}) }));
}

/** What a plan says about a task that exists; what it does not mention stays. */
export function editOf(task: TaskAdd, ids: Ids): TaskEdit {
  const { description, context, acceptance, files, priority, needs } = task;
  return {
    description,
    deps: depsOf(task, ids),
    ...(context ? { context } : {}),
    ...(acceptance ? { acceptance } : {}),
    ...(files ? { files } : {}),
    ...(needs ? { needs } : {}),
    ...(priority === undefined ? {} : { priority }),
  };
}

function depsOf(task: TaskAdd, ids: Ids): string[] {
  return (task.deps ?? []).map((dep) => ids.get(dep) ?? dep);
}
