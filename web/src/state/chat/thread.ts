import type { Message } from "../../protocol";
import type { Pending } from "./outbox";

/** One row of a chat. */
export type Row =
  | { kind: "start"; key: string }
  | { kind: "day"; key: string; day: string }
  | { kind: "new"; key: string }
  | { kind: "message"; key: string; message: Message; head: boolean }
  | { kind: "pending"; key: string; pending: Pending };

const GROUP_MS = 5 * 60_000;

/** The rows of a chat: days, the line above unread messages, and messages grouped by author and time. */
export function thread(
  messages: readonly Message[],
  pending: readonly Pending[],
  options: { complete: boolean; readUpTo: number | null; me: string | null },
): Row[] {
  const rows: Row[] = [];
  if (options.complete) rows.push({ kind: "start", key: "start" });
  let day = "";
  let before: Message | null = null;
  let marked = options.readUpTo === null;
  for (const message of messages) {
    const today = dayOf(message.created_at);
    let head = before === null || !isGrouped(before, message);
    if (today !== day) {
      rows.push({ kind: "day", key: `day ${today}`, day: message.created_at });
      day = today;
      head = true;
    }
    if (!marked && message.number > (options.readUpTo ?? 0) && message.author.id !== options.me) {
      rows.push({ kind: "new", key: "new" });
      marked = true;
      head = true;
    }
    rows.push({ kind: "message", key: message.id, message, head });
    before = message;
  }
  for (const one of pending) rows.push({ kind: "pending", key: one.key, pending: one });
  return rows;
}

function isGrouped(before: Message, message: Message): boolean {
  return (
    before.author.id === message.author.id &&
    before.author_kind === message.author_kind &&
    before.deleted_at === null &&
    Date.parse(message.created_at) - Date.parse(before.created_at) < GROUP_MS
  );
}

function dayOf(timestamp: string): string {
  return new Date(timestamp).toDateString();
}
