import { describe, expect, it } from "vitest";
import { clientName } from "./client";

describe("clientName", () => {
  it("returns a readable name", () => {
    const agent =
      "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/156.0.0.0 Safari/537.36";
    expect(clientName(`127.0.0.1 ${agent}`)).toBe("127.0.0.1 Chromium on Linux");
    expect(clientName("127.0.0.1 cli")).toBe("127.0.0.1 cli");
  });
});
