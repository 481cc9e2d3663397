import { describe, expect, it } from "vitest";
import { find } from "./search";

describe("search", () => {
  it("ranks word starts first and requires all words", () => {
    const items = ["unledger", "the ledger", "ledger", "payments"];
    expect(find(items, "ledg", (item) => item, 9)).toEqual(["ledger", "the ledger", "unledger"]);
    expect(find(items, "ledger the", (item) => item, 9)).toEqual(["the ledger"]);
    expect(find(items, "", (item) => item, 2)).toEqual(["unledger", "the ledger"]);
  });
});
