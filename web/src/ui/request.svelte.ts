import { asProblem, type Problem } from "../lib/failure";

/**
 * Something fetched on demand, with what went wrong beside it. Answers may come in any order: one that is older than what
 * is known is dropped. Older than what was asked for last it still counts, so that what changes often is seen at all.
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

  /** `about` says what is asked for, where that changes: what is known of anything else is not shown as its value. */
  constructor(read: () => Promise<T>, about: () => unknown = () => null) {
    this.#read = read;
    this.#about = about;
  }

  /** What is known; null as long as nothing is. */
  get value(): T | null {
    return this.#got?.about === this.#about() ? (this.#got?.value ?? null) : null;
  }

  set value(value: T | null) {
    this.#got = value === null ? null : { about: this.#about(), value };
  }

  /** Whether something is done, or the newest request has no answer. */
  get busy(): boolean {
    return this.#works > 0 || this.#reads;
  }

  /** Fetches it again. */
  load = (): Promise<void> => {
    this.problem = null;
    return this.#fetch();
  };

  /** Does something, then fetches again; false-safe: a failure is kept and shown. */
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
      // What nobody asks for any more does not take the place of what is known.
      if (about === this.#about()) this.#got = { about, value };
    } catch (thrown) {
      // The newest request will tell.
      if (turn !== this.#asked) return;
      this.#settled = turn;
      this.problem = asProblem(thrown);
    } finally {
      if (turn === this.#asked) this.#reads = false;
    }
  }
}
