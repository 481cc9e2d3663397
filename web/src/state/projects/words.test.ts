import { describe, expect, it } from "vitest";
import { titleOf } from "./words";

describe("titleOf", () => {
  it("is the first non-empty line", () => {
    expect(titleOf("\n  ## Ship the parser \nmore")).toBe("Ship the parser");
    expect(titleOf(" \n#\n")).toBe("Untitled");
    expect([...titleOf("é".repeat(100))]).toHaveLength(81);
  });
});
