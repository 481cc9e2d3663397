import { asProblem } from "../../lib/failure";
import type { NamedTask, Task, TaskAdd, TaskEdit, TaskId, TaskLine } from "../../protocol";
import { titleOf } from "../../state/projects/words";

/** A plan, with those of its tasks that are in the project already. */
export type Sorted = {
  add: readonly TaskAdd[];
  update: readonly { there: TaskLine; task: TaskAdd }[];
  /** Those that are done: they stay as they are. */
  done: readonly { there: TaskLine; task: TaskAdd }[];
};

const OVER: ReadonlySet<TaskLine["status"]> = new Set(["failed", "cancelled"]);

/**
 * Finds the tasks of a plan that are open or done already, by title; of several an open one, and the oldest. The command
 * `task add --file` has the same rule.
 */
export function sorted(tasks: readonly TaskAdd[], lines: Iterable<TaskLine>): Sorted {
  const isDone = (line: TaskLine) => Number(line.status === "done");
  const known = new Map<string, TaskLine>();
  for (const line of [...lines].sort((a, b) => isDone(a) - isDone(b) || (a.id < b.id ? -1 : 1))) {
    const title = line.title.toLowerCase();
    if (!OVER.has(line.status) && !known.has(title)) known.set(title, line);
  }
  const add: TaskAdd[] = [];
  const update: { there: TaskLine; task: TaskAdd }[] = [];
  const done: { there: TaskLine; task: TaskAdd }[] = [];
  for (const task of tasks) {
    const title = titleOf(task.description).toLowerCase();
    const there = known.get(title);
    known.delete(title);
    if (!there) add.push(task);
    else if (there.status === "done") done.push({ there, task });
    else update.push({ there, task });
  }
  return { add, update, done };
}

/** The ids of tasks by their names in the plan. */
export type Ids = ReadonlyMap<string, string>;

/** The ids of tasks that are there, and of those that were just added. */
export function idsOf(there: Sorted["update"], added: readonly NamedTask[] = []): Ids {
  const known = there.flatMap(({ there, task }): [string, string][] =>
    task.id ? [[task.id, there.id]] : [],
  );
  return new Map([...known, ...added.map(({ name, task }): [string, string] => [name, task])]);
}

/** New tasks that refer to existing ones by id. */
export function referring(tasks: readonly TaskAdd[], ids: Ids): TaskAdd[] {
  return tasks.map((task) => ({ ...task, ...(task.deps ? { deps: depsOf(task, ids) } : {}) }));
}

/**
 * What a plan changes in a task that exists; null if that is nothing. What the plan does not mention stays, and so do
 * the answers and other words of people, which the hub appends to the context.
 */
export function difference(there: Task, wanted: TaskAdd, ids: Ids): TaskEdit | null {
  const { context, acceptance, files, priority, needs, labels } = wanted;
  const deps = depsOf(wanted, ids);
  const edit: TaskEdit = {
    ...(wanted.description.trim() !== there.description.trim() ? { description: wanted.description } : {}),
    ...(same(deps, there.deps) ? {} : { deps }),
    ...(context && !there.context.startsWith(context.trim())
      ? { context: [context.trimEnd(), wordsOfPeople(there.context)].filter(Boolean).join("\n\n") }
      : {}),
    ...(acceptance && !same(acceptance, there.acceptance) ? { acceptance } : {}),
    ...(files && !same(files, there.files) ? { files } : {}),
    ...(needs && !same(needs, there.needs) ? { needs } : {}),
    ...(labels && !same(labels, there.labels) ? { labels } : {}),
    ...(priority === undefined || priority === there.priority ? {} : { priority }),
  };
  return Object.keys(edit).length > 0 ? { ...edit, expected_edits: there.edits } : null;
}

// The hub's paragraphs for answers, reopened and retried tasks begin like this.
const APPENDED = /(?:^|\n\n)(Question: [^]*\nAnswer by |Reopened by [^\n]+: |[^\n]+ retried it: )/u;

/** What people said about a task, from the first such paragraph of its context on. */
function wordsOfPeople(context: string): string {
  const found = APPENDED.exec(context);
  return found ? context.slice(found.index).trim() : "";
}

function same(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

function depsOf(task: TaskAdd, ids: Ids): string[] {
  return (task.deps ?? []).map((dep) => ids.get(dep) ?? dep);
}

/** A task that could not be updated, and why. */
export type NotUpdated = { short: string; why: string };

/** Updates tasks one after the other; one that fails does not keep the others from it. */
export async function updateAll(
  update: Sorted["update"],
  ids: Ids,
  hub: { show: (task: TaskId) => Promise<Task>; edit: (task: TaskId, input: TaskEdit) => Promise<unknown> },
): Promise<{ updated: number; failed: NotUpdated[] }> {
  let updated = 0;
  const failed: NotUpdated[] = [];
  for (const { there, task } of update) {
    try {
      const input = difference(await hub.show(there.id), task, ids);
      if (!input) continue;
      await hub.edit(there.id, input);
      updated++;
    } catch (thrown) {
      failed.push({ short: there.short, why: asProblem(thrown).detail });
    }
  }
  return { updated, failed };
}
