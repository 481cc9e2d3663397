import { describe, expect, it } from "vitest";
import type { Landing } from "../../protocol";
import { canAsk, landingOf } from "./landing";

const landing = (id: string, more: Partial<Landing> = {}): Landing => ({
  id,
  project: "p",
  task: "t",
  activity: "a",
  title: "Add sub",
  branch: "shopfloor/add-sub",
  target: null,
  state: "published",
  detail: null,
  push_only: true,
  commit: null,
  landed: null,
  candidate: null,
  pull_request: null,
  asked_by: null,
  created_at: "2026-11-18T10:00:00Z",
  updated_at: "2026-11-18T10:00:00Z",
  ...more,
});

const floor = (...all: Landing[]) => ({ landings: new Map(all.map((one) => [one.id, one])) });

describe("landings", () => {
  it("finds the newest of a task", () => {
    const all = floor(landing("l1"), landing("l2", { state: "refused" }), landing("l3", { task: "other" }));
    expect(landingOf(all, { task: "t" })?.id).toBe("l2");
    expect(landingOf(all, { branch: "nowhere" })).toBeUndefined();
  });

  it("offers to land again only what is not on its way", () => {
    expect(canAsk(undefined)).toBe(true);
    expect(canAsk(landing("l", { state: "refused" }))).toBe(true);
    expect(canAsk(landing("l", { state: "queued" }))).toBe(false);
    expect(canAsk(landing("l", { state: "landed" }))).toBe(false);
  });
});
