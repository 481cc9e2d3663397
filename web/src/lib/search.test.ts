import { describe, expect, it } from "vitest";
import { find, findName } from "./search";

const same = (item: string) => item;

describe("find", () => {
  it("requires every word to start a word of the text, in any order", () => {
    const items = ["unledger", "the ledger", "ledger", "payments"];
    expect(find(items, "ledg", same, 9)).toEqual(["ledger", "the ledger"]);
    expect(find(items, "ledger the", same, 9)).toEqual(["the ledger"]);
    expect(find(items, "", same, 2)).toEqual(["unledger", "the ledger"]);
  });

  it("ignores case and accents", () => {
    expect(find(["Éclair parser"], "ECLAIR", same, 9)).toEqual(["Éclair parser"]);
  });
});

describe("findName", () => {
  const names = ["Set status: completed", "Stop everything", "Project settings", "Settings"];

  it("does not match letters that are scattered over a sentence", () => {
    expect(findName(names, "sect", same, 9)).toEqual([]);
    expect(findName(names, "tings", same, 9)).toEqual([]);
  });

  it("matches the starts of words in the order of the name", () => {
    expect(findName(names, "se st", same, 9)).toEqual(["Set status: completed"]);
    expect(findName(names, "status set", same, 9)).toEqual([]);
    expect(findName(names, "sett", same, 9)).toEqual(["Settings", "Project settings"]);
  });
});
