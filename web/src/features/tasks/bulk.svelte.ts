import { asProblem } from "../../lib/failure";
import { count } from "../../lib/plural";
import type { TaskId, TaskLine } from "../../protocol";
import { hub } from "../../state/hub/hub.svelte";
import { notices } from "../../state/shell/notices.svelte";
import { type Act, stepped } from "../../state/tasks/acts";
import { taskLine } from "../../state/tasks/board";
import { selection } from "../../state/tasks/selection.svelte";

/** A task for which an act failed, and why. */
export type Failed = { task: TaskLine; why: string };

/** The words for an act. */
export const ACT: Record<Act, { verb: string; doing: string; done: string }> = {
  cancel: { verb: "Cancel", doing: "Cancelling", done: "Cancelled" },
  retry: { verb: "Retry", doing: "Retrying", done: "Queued again:" },
  reopen: { verb: "Ask for more", doing: "Reopening", done: "Reopened" },
  prioritise: { verb: "Priority", doing: "Changing", done: "Priority changed:" },
};

/** The hub handles this many requests of a page at once; others of this page wait behind them. */
const AT_ONCE = 8;

/** How long a change takes to arrive, at most. */
const GIVEN_MS = 5000;

/** Changes many tasks, one request each, and reports what failed. */
class Bulk {
  /** How far the current act is. */
  progress = $state.raw<{ act: Act; done: number; of: number } | null>(null);
  /** What failed in the last act. */
  failed = $state.raw<readonly Failed[]>([]);
  /** A short result for screen readers, where the page shows it on the cards. */
  said = $state("");
  /** Counts the acts, so that columns sort again after the person's own change. */
  turns = $state(0);
  #last: Promise<unknown> = Promise.resolve();

  /** Cancels tasks. */
  cancel(tasks: readonly TaskLine[], reason: string): Promise<void> {
    const input = reason ? { reason } : {};
    return this.#run("cancel", tasks, (task) => hub.call({ verb: "task.cancel", task: task.id, input }));
  }

  /** Queues failed, cancelled and escalated tasks again. */
  retry(tasks: readonly TaskLine[]): Promise<void> {
    return this.#run("retry", tasks, (task) => hub.call({ verb: "task.retry", task: task.id, input: {} }));
  }

  /** Queues done tasks again, with words about what is missing. */
  reopen(tasks: readonly TaskLine[], text: string): Promise<void> {
    return this.#run("reopen", tasks, (task) =>
      hub.call({ verb: "task.reopen", task: task.id, input: { text } }),
    );
  }

  /** Sets the priority, or changes it by some steps. */
  prioritise(tasks: readonly TaskLine[], to: { priority: number } | { by: number }): Promise<void> {
    return this.#run("prioritise", tasks, async (task) => {
      // The answer may come before the change that everybody gets: the next step starts from the answer.
      const given = this.#given.get(task.id);
      const now = given?.before === task.priority ? given.priority : task.priority;
      const priority = "by" in to ? stepped(now, to.by) : to.priority;
      if (priority !== now) {
        await hub.call({ verb: "task.edit", task: task.id, input: { priority } });
        this.#given.set(task.id, { before: task.priority, priority });
        setTimeout(() => this.#given.delete(task.id), GIVEN_MS);
      }
      this.said = tasks.length === 1 ? `${task.short}: priority ${priority}` : this.said;
    });
  }

  /** Forgets what failed. */
  forget(): void {
    this.failed = [];
  }

  // Priorities that the hub has accepted and that the board may not show yet.
  readonly #given = new Map<TaskId, { before: number; priority: number }>();

  // One act after another: a second step of a priority starts from the first.
  #run(act: Act, tasks: readonly TaskLine[], call: (task: TaskLine) => Promise<unknown>): Promise<void> {
    const turn = this.#last.then(() => this.#act(act, tasks, call));
    this.#last = turn;
    return turn;
  }

  async #act(act: Act, all: readonly TaskLine[], call: (task: TaskLine) => Promise<unknown>): Promise<void> {
    const tasks = all.map((task) => taskLine(hub.floor, task.id) ?? task);
    const left = [...tasks];
    const failed: Failed[] = [];
    const done: TaskId[] = [];
    const of = left.length;
    this.failed = [];
    this.progress = { act, done: 0, of };
    const work = async () => {
      for (let task = left.shift(); task; task = left.shift()) {
        try {
          await call(task);
          done.push(task.id);
        } catch (thrown) {
          failed.push({ task, why: asProblem(thrown).detail });
        }
        this.progress = { act, done: done.length + failed.length, of };
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, work));
    this.progress = null;
    this.failed = failed;
    this.turns += 1;
    if (act !== "prioritise") selection.drop(done);
    if (failed.length > 0) return;
    const what = of === 1 ? (tasks[0]?.short ?? "") : count(of, "task");
    if (act !== "prioritise") notices.tell(`${ACT[act].done} ${what}`);
    else if (of > 1) this.said = `${ACT[act].done} ${what}`;
  }
}

/** The acts of the open board. */
export const bulk = new Bulk();
