import { describe, expect, it } from "vitest";
import { find } from "./search";

describe("search", () => {
  it("puts the start of a word before the middle, and needs every word", () => {
    const items = ["unledger", "the ledger", "ledger", "payments"];
    expect(find(items, "ledg", (item) => item, 9)).toEqual(["ledger", "the ledger", "unledger"]);
    expect(find(items, "ledger the", (item) => item, 9)).toEqual(["the ledger"]);
    expect(find(items, "", (item) => item, 2)).toEqual(["unledger", "the ledger"]);
  });
});
