import type { TaskId, TaskLine, TaskStatus } from "../../protocol";
import { type Layered, valuesOf } from "../../lib/layered";
import { fits, type TaskQuery } from "./board";

/** A column by which the list can be sorted. */
export type SortKey = "status" | "task" | "priority" | "worker" | "updated";

/** The order of the list. */
export type Sort = { by: SortKey; down: boolean };

/** The sortable columns, each with the direction that a first click chooses. */
export const SORTS: Record<SortKey, { word: string; down: boolean }> = {
  status: { word: "Status", down: false },
  task: { word: "Task", down: false },
  priority: { word: "Priority", down: true },
  worker: { word: "Worker", down: false },
  updated: { word: "Changed", down: true },
};

const FIRST: Sort = { by: "status", down: false };

/** Parses the order in a URL, such as `-priority`. */
export function parseSort(text: string | undefined): Sort {
  const by = (text ?? "").replace(/^-/u, "");
  return by in SORTS ? { by: by as SortKey, down: text?.startsWith("-") ?? false } : FIRST;
}

/** The order for the URL; undefined for the default. */
export function sortText({ by, down }: Sort): string | undefined {
  return by === FIRST.by && down === FIRST.down ? undefined : `${down ? "-" : ""}${by}`;
}

/** The order after a click on a column: its own first, then reversed. */
export function turned(sort: Sort, by: SortKey): Sort {
  return sort.by === by ? { by, down: !sort.down } : { by, down: SORTS[by].down };
}

// The most urgent first.
const URGENT: readonly TaskStatus[] = [
  "escalated",
  "failed",
  "running",
  "assigned",
  "validating",
  "reported",
  "ready",
  "blocked",
  "done",
  "cancelled",
];
const RANK = new Map(URGENT.map((status, at) => [status, at]));

/** The tasks that match the filter, in order; equal ones stay in the order of their numbers. */
export function sorted(
  tasks: Layered<TaskId, TaskLine>,
  query: TaskQuery,
  sort: Sort,
  workerOf: (id: string | null) => string = (id) => id ?? "",
): TaskLine[] {
  const compare = COMPARE[sort.by];
  const turn = sort.down ? -1 : 1;
  return [...valuesOf(tasks)]
    .filter((task) => fits(task, query))
    .sort((a, b) => turn * compare(a, b, workerOf) || byNumber(a, b));
}

type Compare = (a: TaskLine, b: TaskLine, workerOf: (id: string | null) => string) => number;

const COMPARE: Record<SortKey, Compare> = {
  status: (a, b) => (RANK.get(a.status) ?? 0) - (RANK.get(b.status) ?? 0),
  task: (a, b) => byNumber(a, b),
  priority: (a, b) => a.priority - b.priority,
  // Tasks without a worker come last in the first direction.
  worker: (a, b, workerOf) => {
    const [one, other] = [workerOf(a.assigned_to), workerOf(b.assigned_to)];
    return Number(one === "") - Number(other === "") || one.localeCompare(other);
  },
  updated: (a, b) => (a.updated_at < b.updated_at ? -1 : a.updated_at > b.updated_at ? 1 : 0),
};

function byNumber(a: TaskLine, b: TaskLine): number {
  return numberOf(a) - numberOf(b) || (a.id < b.id ? -1 : a.id > b.id ? 1 : 0);
}

function numberOf({ short }: TaskLine): number {
  return Number(short.slice(short.lastIndexOf("-") + 1)) || 0;
}
