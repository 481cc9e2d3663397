import type { TaskId, TaskLine, TaskStatus } from "../../protocol";
import { byTurn, type ColumnName, columnOf } from "./board";

/** What a person does to tasks on the board. */
export type Act = "cancel" | "retry" | "reopen" | "prioritise";

/** The priorities, most urgent first. */
export const PRIORITIES = [9, 8, 7, 6, 5, 4, 3, 2, 1, 0] as const;

const OVER: ReadonlySet<TaskStatus> = new Set(["done", "failed", "cancelled"]);
const RETRIED: ReadonlySet<TaskStatus> = new Set(["failed", "escalated", "cancelled"]);

/** Whether an act is possible for a task. */
export function applies(act: Act, { status }: Pick<TaskLine, "status">): boolean {
  switch (act) {
    case "cancel":
    case "prioritise":
      return !OVER.has(status);
    case "retry":
      return RETRIED.has(status);
    case "reopen":
      return status === "done";
  }
}

/** What it means to drop these tasks on a column; null when the column cannot take them all. */
export function actOfDrop(tasks: readonly TaskLine[], column: ColumnName): Act | null {
  const all = (act: Act) => tasks.every((task) => applies(act, task));
  if (tasks.length === 0) return null;
  switch (column) {
    case "ready":
      if (all("retry")) return "retry";
      if (all("reopen")) return "reopen";
      return isHome(tasks, column) ? "prioritise" : null;
    case "blocked":
      return isHome(tasks, column) ? "prioritise" : null;
    case "over":
      return all("cancel") ? "cancel" : null;
    default:
      return null;
  }
}

function isHome(tasks: readonly TaskLine[], column: ColumnName): boolean {
  return tasks.every((task) => columnOf(task.status) === column);
}

/** Where a card goes: its priority, and the card that it comes before, or null at the end. */
export type Place = { priority: number; before: TaskId | null };

/**
 * The place nearest to where a card is dropped: before `rows[at]`, in a column in queue order.
 *
 * Cards of one priority stay in the order of their age, so not every place has a priority; the card then passes the
 * one that it was dragged over, also if it passes more.
 */
export function placeAt(rows: readonly TaskLine[], moved: readonly TaskLine[], at: number): Place | null {
  const [lead] = moved;
  if (!lead) return null;
  const ids = new Set(moved.map((task) => task.id));
  const stays = (task: TaskLine) => !ids.has(task.id);
  const above = rows.slice(0, at).filter(stays).at(-1);
  const below = rows.slice(at).find(stays);
  const after = (task: TaskLine) => !above || byTurn(above, task) < 0;
  const before = (task: TaskLine) => !below || byTurn(task, below) < 0;
  const nearest = PRIORITIES.map((priority) => ({ ...lead, priority })).sort(
    (a, b) => Math.abs(a.priority - lead.priority) - Math.abs(b.priority - lead.priority),
  );
  const goesUp = at <= rows.findIndex((task) => task.id === lead.id);
  const found =
    nearest.find((task) => after(task) && before(task)) ?? nearest.find(goesUp ? before : after) ?? lead;
  const next = rows.find((task) => stays(task) && byTurn(found, task) < 0);
  return { priority: found.priority, before: next?.id ?? null };
}

/** The priority `by` steps higher, or lower if negative, within its bounds. */
export function stepped(priority: number, by: number): number {
  return Math.min(PRIORITIES[0], Math.max(0, priority + by));
}
