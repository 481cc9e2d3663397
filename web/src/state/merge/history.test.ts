import { describe, expect, it } from "vitest";
import { outcomeOf, titleOf } from "./history";

describe("the history of merges", () => {
  it("says what a run did and how it ended", () => {
    expect(titleOf({ purpose: "bare", state: "unproven" })).toBe("Testing the target branch: no result");
    expect(titleOf({ purpose: "confirm", state: "red" })).toBe("Testing alone: checks failed");
    expect(titleOf({ purpose: "look", state: "green" })).toBe("Looking for conflicts: no conflict");
    expect(titleOf({ purpose: "land", state: "not_landed" })).toBe("Landing: not pushed");
  });

  it("says how a check ended, with its time if it ran", () => {
    expect(outcomeOf({ outcome: "timed_out", duration_ms: 180_000 })).toBe("timed out after 3 min");
    expect(outcomeOf({ outcome: "passed", duration_ms: 45_000 })).toBe("passed after 45 s");
    expect(outcomeOf({ outcome: "not_run", duration_ms: 0 })).toBe("did not run");
  });
});
