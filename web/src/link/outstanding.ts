import type { Answer, Call, Problem } from "../protocol";
import { Failure } from "../lib/failure";

/** A pending request. */
export type Outstanding = {
  id: number;
  key: string;
  call: Call;
  /** When it was last sent; null while it waits for a connection. */
  sentAt: number | null;
};

type Entry = Outstanding & { resolve: (answer: Answer) => void; reject: (failure: Failure) => void };

/** The pending requests, in order; each is settled exactly once. */
export class OutstandingRequests {
  #next = 1;
  #open = new Map<number, Entry>();

  /** Adds a request; returns the promise of its answer. */
  add(call: Call, key: string): { request: Outstanding; answer: Promise<Answer> } {
    let entry!: Entry;
    const answer = new Promise<Answer>((resolve, reject) => {
      entry = { id: this.#next++, key, call, sentAt: null, resolve, reject };
    });
    this.#open.set(entry.id, entry);
    return { request: entry, answer };
  }

  /** Resolves a request. */
  answered(id: number, answer: Answer): void {
    this.#take(id)?.resolve(answer);
  }

  /** Rejects a request. */
  refused(id: number, problem: Problem): void {
    this.#take(id)?.reject(new Failure(problem));
  }

  /** Rejects all pending requests. */
  refuseAll(problem: Problem): void {
    for (const id of [...this.#open.keys()]) this.refused(id, problem);
  }

  /** All pending requests, oldest first. */
  all(): Outstanding[] {
    return [...this.#open.values()];
  }

  /** Marks all pending requests as not sent, after a disconnection. */
  unsend(): void {
    for (const entry of this.#open.values()) entry.sentAt = null;
  }

  #take(id: number): Entry | undefined {
    const entry = this.#open.get(id);
    this.#open.delete(id);
    return entry;
  }
}
