import { describe, expect, it } from "vitest";
import type { Message } from "../../protocol";
import { hear, newestPage, olderPage, UNREAD_CHAT } from "./chat";
import { message } from "../testing/samples";

const range = (from: number, to: number): Message[] =>
  Array.from({ length: to - from + 1 }, (_, index) => message(from + index));
const numbers = (chat: { messages: readonly Message[] }) => chat.messages.map((one) => one.number);

describe("a chat", () => {
  it("starts with its newest page and grows backwards", () => {
    const newest = newestPage(UNREAD_CHAT, range(11, 15), 5);
    expect(newest).toMatchObject({ complete: false, fresh: true });
    const more = olderPage(newest, range(6, 10), 5);
    const all = olderPage(more, range(1, 5), 5);
    expect(numbers(all)).toEqual(Array.from({ length: 15 }, (_, index) => index + 1));
    expect(all.complete).toBe(true);
  });

  it("adds new messages and updates old ones", () => {
    const chat = newestPage(UNREAD_CHAT, range(1, 3), 5);
    expect(numbers(hear(chat, message(4)))).toEqual([1, 2, 3, 4]);
    expect(hear(chat, message(2, { content: "edited" })).messages[1]?.content).toBe("edited");
    expect(hear(hear(chat, message(4)), message(4)).messages).toHaveLength(4);
  });

  it("is outdated after a gap", () => {
    const chat = newestPage(UNREAD_CHAT, range(1, 3), 5);
    expect(hear(chat, message(6))).toMatchObject({ fresh: false, messages: [{}, {}, {}] });
  });

  it("ignores a message before the first page", () => {
    expect(hear(UNREAD_CHAT, message(7)).messages).toEqual([]);
    const empty = newestPage(UNREAD_CHAT, [], 5);
    expect(numbers(hear(empty, message(1)))).toEqual([1]);
  });

  it("joins a new page to the loaded messages, or replaces them after a gap", () => {
    const old = newestPage(UNREAD_CHAT, range(1, 5), 5);
    expect(numbers(newestPage(old, range(4, 8), 5))).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
    expect(numbers(newestPage(old, range(20, 24), 5))).toEqual([20, 21, 22, 23, 24]);
  });
});
