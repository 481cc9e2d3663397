import type { TaskId, TaskLine } from "../../protocol";
import { dialogs } from "../../state/shell/dialogs.svelte";
import type { Act, Place } from "../../state/tasks/acts";
import { bulk } from "./bulk.svelte";

/** The cards that are dragged; a selected card takes the other selected ones along. */
class Dragging {
  tasks = $state.raw<readonly TaskLine[]>([]);

  /** Whether a task is dragged. */
  has(task: TaskId): boolean {
    return this.tasks.some((one) => one.id === task);
  }

  /** Starts. */
  start(task: TaskLine, selected: readonly TaskLine[]): void {
    this.tasks = selected.some((one) => one.id === task.id) ? selected : [task];
  }

  /** Ends, dropped or not. */
  end(): void {
    if (this.tasks.length > 0) this.tasks = [];
  }

  /** Does what the drop means. */
  drop(act: Act, place: Place | null): void {
    const { tasks } = this;
    this.end();
    if (act === "retry") void bulk.retry(tasks);
    else if (act === "prioritise") {
      if (place) void bulk.prioritise(tasks, { priority: place.priority });
    } else dialogs.show({ kind: "decide-tasks", act, tasks: tasks.map((task) => task.id) });
  }
}

/** What is dragged on the open board. */
export const dragging = new Dragging();
