import { SvelteSet } from "svelte/reactivity";
import type { TaskId } from "../../protocol";

/** The tasks that are selected on the board. */
export class Selection {
  readonly #ids = new SvelteSet<TaskId>();
  // Where a range starts.
  #anchor: TaskId | null = null;

  /** The selected tasks, in the order of their selection. */
  get ids(): ReadonlySet<TaskId> {
    return this.#ids;
  }

  /** Selects a task, or no longer. */
  toggle(task: TaskId): void {
    if (!this.#ids.delete(task)) this.#ids.add(task);
    this.#anchor = task;
  }

  /** Selects also the tasks of a column from the one that was selected last to this one. */
  extend(column: readonly TaskId[], to: TaskId): void {
    const from = column.indexOf(this.#anchor ?? to);
    const at = column.indexOf(to);
    const range = from < 0 ? [to] : column.slice(Math.min(from, at), Math.max(from, at) + 1);
    for (const task of range) this.#ids.add(task);
    if (from < 0) this.#anchor = to;
    this.#anchor ??= to;
  }

  /** Selects some tasks no longer. */
  drop(tasks: Iterable<TaskId>): void {
    for (const task of tasks) this.#ids.delete(task);
  }

  /** Selects nothing. */
  clear(): void {
    this.#ids.clear();
    this.#anchor = null;
  }
}

/** The selection of the open board. */
export const selection = new Selection();
