import { asProblem } from "../link/failure";
import type { Problem } from "../protocol";

/** Something fetched on demand, with what went wrong beside it. */
export class Fetched<T> {
  value = $state.raw<T | null>(null);
  problem = $state.raw<Problem | null>(null);
  busy = $state(false);
  readonly #read: () => Promise<T>;

  constructor(read: () => Promise<T>) {
    this.#read = read;
  }

  /** Fetches it again. */
  load = (): Promise<void> => this.after(() => Promise.resolve());

  /** Does something, then fetches again; false-safe: a failure is kept and shown. */
  async after(work: () => Promise<unknown>): Promise<void> {
    this.problem = null;
    this.busy = true;
    try {
      await work();
      this.value = await this.#read();
    } catch (thrown) {
      this.problem = asProblem(thrown);
    } finally {
      this.busy = false;
    }
  }
}
