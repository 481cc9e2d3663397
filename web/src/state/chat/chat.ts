import type { Message } from "../../protocol";
import type { Chat } from "../hub/floor";

/** A chat that is not loaded. */
export const UNREAD_CHAT: Chat = { messages: [], complete: false, fresh: false };

/** The chat with a new, edited or deleted message. */
export function hear(chat: Chat, message: Message): Chat {
  const { messages } = chat;
  const last = messages.at(-1);
  if (!last || message.number > last.number) {
    // After a gap, the newest page must be fetched again.
    if (last && message.number !== last.number + 1) return { ...chat, fresh: false };
    return last || chat.complete ? { ...chat, messages: [...messages, message] } : chat;
  }
  const index = findNumber(messages, message.number);
  if (index < 0) return chat;
  return { ...chat, messages: messages.with(index, message) };
}

/** The chat with its newest page, fetched with `limit`. */
export function newestPage(chat: Chat, page: readonly Message[], limit: number): Chat {
  const first = page[0];
  const last = chat.messages.at(-1);
  if (!first) return { messages: [], complete: true, fresh: true };
  const joins = last !== undefined && first.number <= last.number + 1;
  const complete = page.length < limit || first.number === 1;
  if (!joins) return { messages: page, complete, fresh: true };
  const end = page.at(-1)?.number ?? 0;
  const messages = [
    ...chat.messages.filter((message) => message.number < first.number),
    ...page,
    ...chat.messages.filter((message) => message.number > end),
  ];
  return { messages, complete: chat.complete || complete, fresh: true };
}

/** The chat with an older page prepended, fetched with `limit`. */
export function olderPage(chat: Chat, page: readonly Message[], limit: number): Chat {
  const first = chat.messages[0];
  const older = first ? page.filter((message) => message.number < first.number) : page;
  const complete = page.length < limit || page[0]?.number === 1;
  return { ...chat, messages: [...older, ...chat.messages], complete };
}

function findNumber(messages: readonly Message[], number: number): number {
  let low = 0;
  let high = messages.length - 1;
  while (low <= high) {
    const middle = (low + high) >> 1;
    const found = messages[middle]?.number ?? 0;
    if (found === number) return middle;
    if (found < number) low = middle + 1;
    else high = middle - 1;
  }
  return -1;
}
