import type { Answer, Call, Problem } from "../protocol";
import { Failure } from "../lib/failure";

/** A request that has no answer yet. */
export type Outstanding = {
  id: number;
  key: string;
  call: Call;
  /** When it was last put on the wire; null while it waits for a connection. */
  sentAt: number | null;
};

type Entry = Outstanding & { resolve: (answer: Answer) => void; reject: (failure: Failure) => void };

/** The requests without an answer, in order; each is settled exactly once. */
export class OutstandingRequests {
  #next = 1;
  #open = new Map<number, Entry>();

  /** Remembers a request and gives the promise of its answer. */
  add(call: Call, key: string): { request: Outstanding; answer: Promise<Answer> } {
    let entry!: Entry;
    const answer = new Promise<Answer>((resolve, reject) => {
      entry = { id: this.#next++, key, call, sentAt: null, resolve, reject };
    });
    this.#open.set(entry.id, entry);
    return { request: entry, answer };
  }

  /** Settles a request with its answer. */
  answered(id: number, answer: Answer): void {
    this.#take(id)?.resolve(answer);
  }

  /** Settles a request with its refusal. */
  refused(id: number, problem: Problem): void {
    this.#take(id)?.reject(new Failure(problem));
  }

  /** Refuses everything that is open. */
  refuseAll(problem: Problem): void {
    for (const id of [...this.#open.keys()]) this.refused(id, problem);
  }

  /** Everything open, oldest first. */
  all(): Outstanding[] {
    return [...this.#open.values()];
  }

  /** Says that nothing open is on the wire any more. */
  unsend(): void {
    for (const entry of this.#open.values()) entry.sentAt = null;
  }

  #take(id: number): Entry | undefined {
    const entry = this.#open.get(id);
    this.#open.delete(id);
    return entry;
  }
}
