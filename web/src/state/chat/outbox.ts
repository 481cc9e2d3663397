import type { Problem } from "../../lib/failure";
import type { Message } from "../../protocol";

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

/** The outbox without a confirmed or discarded message. */
export function settled(outbox: readonly Pending[], key: string): readonly Pending[] {
  return outbox.filter((pending) => pending.key !== key);
}

/** The outbox without a message that arrived by delta, possibly before its answer. */
export function seen(outbox: readonly Pending[], message: Message): readonly Pending[] {
  const index = outbox.findIndex(
    (pending) =>
      pending.project === message.project && pending.content === message.content && pending.problem === null,
  );
  return index < 0 ? outbox : outbox.filter((_, at) => at !== index);
}
