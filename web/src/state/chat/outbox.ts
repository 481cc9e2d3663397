import type { Problem } from "../../lib/failure";

/** An unconfirmed message of this person. */
export type Pending = {
  /** The idempotency key, kept for retries. */
  key: string;
  project: string;
  content: string;
  at: number;
  /** Why it was rejected; null while it is in flight. */
  problem: Problem | null;
};

/** The outbox with a message in flight. */
export function sent(outbox: readonly Pending[], pending: Pending): readonly Pending[] {
  return [...outbox.filter((other) => other.key !== pending.key), pending];
}

/** The outbox with a rejected message. */
export function failed(outbox: readonly Pending[], key: string, problem: Problem): readonly Pending[] {
  return outbox.map((pending) => (pending.key === key ? { ...pending, problem } : pending));
}

/** The outbox with a message in flight again. */
export function retried(outbox: readonly Pending[], key: string): readonly Pending[] {
  return outbox.map((pending) => (pending.key === key ? { ...pending, problem: null } : pending));
}

/** The outbox without a message that was confirmed, by its answer or its delta, or discarded. */
export function settled(outbox: readonly Pending[], key: string): readonly Pending[] {
  return outbox.filter((pending) => pending.key !== key);
}
