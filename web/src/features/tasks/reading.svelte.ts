import { asProblem, type Problem } from "../../lib/failure";
import { hub } from "../../state/hub/hub.svelte";

/** Loads a project's board while it is open: once, and again after a full sync. */
export class Reading {
  problem = $state.raw<Problem | null>(null);
  busy = $state(false);
  readonly #project: () => string;

  constructor(project: () => string) {
    this.#project = project;
    $effect(() => {
      const known = hub.floor.boards.get(this.#project());
      if (this.busy || this.problem || (known?.fresh && known.wanted)) return;
      if (hub.connection.phase === "live") void this.load();
    });
  }

  /** Fetches the board. */
  load = async (): Promise<void> => {
    this.busy = true;
    this.problem = null;
    try {
      await hub.readBoard(this.#project());
    } catch (thrown) {
      this.problem = asProblem(thrown);
    } finally {
      this.busy = false;
    }
  };
}
