import type { TaskId } from "../../protocol";

/** The tasks that are selected on the board. */
export class Selection {
  #ids = $state.raw<ReadonlySet<TaskId>>(new Set());
  // Where a range starts.
  #anchor: TaskId | null = null;

  /** The selected tasks, in the order of their selection. */
  get ids(): ReadonlySet<TaskId> {
    return this.#ids;
  }

  /** Selects a task, or no longer. */
  toggle(task: TaskId): void {
    const ids = new Set(this.#ids);
    if (!ids.delete(task)) ids.add(task);
    this.#ids = ids;
    this.#anchor = task;
  }

  /** Selects also the tasks of a column from the one that was selected last to this one. */
  extend(column: readonly TaskId[], to: TaskId): void {
    const from = column.indexOf(this.#anchor ?? to);
    const at = column.indexOf(to);
    const range = from < 0 ? [to] : column.slice(Math.min(from, at), Math.max(from, at) + 1);
    this.#ids = new Set([...this.#ids, ...range]);
    this.#anchor = from < 0 ? to : (this.#anchor ?? to);
  }

  /** Selects some tasks no longer. */
  drop(tasks: Iterable<TaskId>): void {
    const ids = new Set(this.#ids);
    for (const task of tasks) ids.delete(task);
    this.#ids = ids;
  }

  /** Selects nothing. */
  clear(): void {
    this.#ids = new Set();
    this.#anchor = null;
  }
}

/** The selection of the open board. */
export const selection = new Selection();
