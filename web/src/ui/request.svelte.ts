import { asProblem, type Problem } from "../lib/failure";

/**
 * A value that is fetched on demand, with its problem. Answers may arrive in any order: an answer is dropped if a later
 * request was already answered, but not merely because a later request is pending, so that frequent reloads still
 * update the value.
 */
export class Fetched<T> {
  problem = $state.raw<Problem | null>(null);
  #got = $state.raw<{ about: unknown; value: T } | null>(null);
  #works = $state(0);
  #reads = $state(false);
  #asked = 0;
  #settled = 0;
  readonly #read: () => Promise<T>;
  readonly #about: () => unknown;

  /** `about` identifies the requested value: a value for anything else is not shown. */
  constructor(read: () => Promise<T>, about: () => unknown = () => null) {
    this.#read = read;
    this.#about = about;
  }

  /** The value; null before the first answer. */
  get value(): T | null {
    return this.#got?.about === this.#about() ? (this.#got?.value ?? null) : null;
  }

  set value(value: T | null) {
    this.#got = value === null ? null : { about: this.#about(), value };
  }

  /** Whether an action is running or the latest request is pending. */
  get busy(): boolean {
    return this.#works > 0 || this.#reads;
  }

  /** Fetches the value. */
  load = (): Promise<void> => {
    this.problem = null;
    return this.#fetch();
  };

  /** Runs an action, then fetches the value; keeps the problem of a failure. */
  async after(work: () => Promise<unknown>): Promise<void> {
    this.problem = null;
    this.#works += 1;
    try {
      await work();
    } catch (thrown) {
      this.problem = asProblem(thrown);
      return;
    } finally {
      this.#works -= 1;
    }
    await this.#fetch();
  }

  async #fetch(): Promise<void> {
    const about = this.#about();
    const turn = ++this.#asked;
    this.#reads = true;
    try {
      const value = await this.#read();
      if (turn < this.#settled) return;
      this.#settled = turn;
      // Ignore an answer to a question that is no longer asked.
      if (about === this.#about()) this.#got = { about, value };
    } catch (thrown) {
      // Only the latest request reports its problem.
      if (turn !== this.#asked) return;
      this.#settled = turn;
      this.problem = asProblem(thrown);
    } finally {
      if (turn === this.#asked) this.#reads = false;
    }
  }
}
