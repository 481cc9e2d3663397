import type { Problem } from "../../lib/failure";
import type { Message } from "../../protocol";

/** A message that this person sent and the hub has not confirmed. */
export type Pending = {
  /** The idempotency key: a retry with it acts once. */
  key: string;
  project: string;
  content: string;
  at: number;
  /** Why it was refused; null while it is on its way. */
  problem: Problem | null;
};

/** The outbox with a message on its way. */
export function sent(outbox: readonly Pending[], pending: Pending): readonly Pending[] {
  return [...outbox.filter((other) => other.key !== pending.key), pending];
}

/** The outbox with a message refused. */
export function failed(outbox: readonly Pending[], key: string, problem: Problem): readonly Pending[] {
  return outbox.map((pending) => (pending.key === key ? { ...pending, problem } : pending));
}

/** The outbox with a message on its way again. */
export function retried(outbox: readonly Pending[], key: string): readonly Pending[] {
  return outbox.map((pending) => (pending.key === key ? { ...pending, problem: null } : pending));
}

/** The outbox without a message: confirmed, or given up. */
export function settled(outbox: readonly Pending[], key: string): readonly Pending[] {
  return outbox.filter((pending) => pending.key !== key);
}

/** The outbox after a message of this person came by delta, which may be before its answer: it must not be seen twice. */
export function seen(outbox: readonly Pending[], message: Message): readonly Pending[] {
  const index = outbox.findIndex(
    (pending) =>
      pending.project === message.project && pending.content === message.content && pending.problem === null,
  );
  return index < 0 ? outbox : outbox.filter((_, at) => at !== index);
}
