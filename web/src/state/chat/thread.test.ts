import { describe, expect, it } from "vitest";
import { failed, type Pending, retried, sent, settled } from "./outbox";
import { message } from "../testing/samples";
import { thread } from "./thread";

const options = { complete: false, readUpTo: null, me: "ann" };
const kinds = (rows: { kind: string }[]) => rows.map((row) => row.kind);

describe("thread", () => {
  it("groups messages and shows one line per day", () => {
    const rows = thread(
      [
        message(1),
        message(2, { created_at: "2026-11-15T10:04:00.000Z" }),
        message(3, { created_at: "2026-11-15T10:20:00.000Z" }),
        message(4, { created_at: "2026-11-17T10:20:00.000Z" }),
      ],
      [],
      options,
    );
    expect(kinds(rows)).toEqual(["day", "message", "message", "message", "day", "message"]);
    expect(rows.flatMap((row) => (row.kind === "message" ? [row.head] : []))).toEqual([
      true,
      false,
      true,
      true,
    ]);
  });

  it("draws the line above the first unread message of others", () => {
    const mine = { author: { id: "ann", name: "ann" } };
    const rows = thread([message(1), message(2, mine), message(3)], [], { ...options, readUpTo: 1 });
    expect(kinds(rows)).toEqual(["day", "message", "message", "new", "message"]);
  });

  it("handles ten thousand messages quickly", () => {
    const many = Array.from({ length: 10_000 }, (_, index) => message(index + 1));
    const times = Array.from({ length: 3 }, () => {
      const before = performance.now();
      thread(many, [], options);
      return performance.now() - before;
    });
    // The best of several runs: the machine may be busy.
    expect(Math.min(...times)).toBeLessThan(100);
  });
});

describe("outbox", () => {
  const pending: Pending = { key: "k", project: "p", content: "text 1", at: 0, problem: null };
  const problem = { kind: "storage", status: 507, detail: "full" } as const;

  it("keeps a rejected message for a retry with the same key", () => {
    const refused = failed(sent([], pending), "k", problem);
    expect(refused).toMatchObject([{ key: "k", problem: { detail: "full" } }]);
    expect(retried(refused, "k")).toEqual([pending]);
    expect(settled(refused, "k")).toEqual([]);
  });

  it("keeps a message with the same text under another key", () => {
    const two = sent(sent([], pending), { ...pending, key: "l" });
    expect(settled(two, "k").map((one) => one.key)).toEqual(["l"]);
  });
});
