import { describe, expect, it } from "vitest";
import { clientName } from "./client";
import { pieces, unfinished } from "./mentions";
import { parseRoute, pathOf, type Route } from "./route";
import { find } from "./search";
import { dayName, relative } from "./time";
import { titleOf } from "./words";

const id = `act_${"0".repeat(32)}`;

describe("pieces", () => {
  it("finds mentions by the longest name, ignoring case, and references", () => {
    expect(pieces(`hi @Ann Lee, see #${id}.`, ["ann", "ann lee"])).toEqual([
      { kind: "text", text: "hi " },
      { kind: "mention", name: "Ann Lee" },
      { kind: "text", text: ", see " },
      { kind: "reference", id },
      { kind: "text", text: "." },
    ]);
  });

  it("leaves alone what only looks like one", () => {
    for (const text of ["@anna", "@", "#act_12", `#${id}f`, "a # b @ c"]) {
      expect(pieces(text, ["ann"])).toEqual([{ kind: "text", text }]);
    }
  });
});

describe("unfinished", () => {
  it("is what is being typed", () => {
    expect(unfinished("hi @an", 6)).toEqual({ sign: "@", query: "an", start: 3 });
    expect(unfinished("#", 1)).toEqual({ sign: "#", query: "", start: 0 });
    expect(unfinished("mail@an", 7)).toBeNull();
    expect(unfinished("@ann done", 9)).toBeNull();
  });
});

describe("routes", () => {
  const routes: Route[] = [
    { name: "home" },
    { name: "project", project: "prj_1" },
    { name: "activity", project: "prj_1", activity: "act_1" },
    { name: "project-settings", project: "prj_1" },
    { name: "people" },
    { name: "approval", approval: "apr_1" },
    { name: "runners" },
    { name: "settings" },
    { name: "audit", project: null },
    { name: "audit", project: "prj_1" },
  ];

  it.each(routes)("survive their address: $name", (route) => {
    const [path = "", search] = pathOf(route).split("?");
    expect(parseRoute(path, search)).toEqual(route);
  });

  it("that are none are lost", () => {
    for (const path of ["/x", "/p/a/b", "/p/a/a/b/c", "/people/1"])
      expect(parseRoute(path)).toEqual({ name: "lost" });
  });
});

describe("search", () => {
  it("puts the start of a word before the middle, and needs every word", () => {
    const items = ["unledger", "the ledger", "ledger", "payments"];
    expect(find(items, "ledg", (item) => item, 9)).toEqual(["ledger", "the ledger", "unledger"]);
    expect(find(items, "ledger the", (item) => item, 9)).toEqual(["the ledger"]);
    expect(find(items, "", (item) => item, 2)).toEqual(["unledger", "the ledger"]);
  });
});

describe("times", () => {
  const now = Date.parse("2026-11-15T12:00:00.000Z");

  it("are relative", () => {
    expect(relative(now - 2_000, now)).toBe("just now");
    expect(relative(now - 40_000, now)).toBe("40s ago");
    expect(relative(now - 3 * 3_600_000, now)).toMatch(/^3h/);
    expect(relative(now + 3 * 86_400_000, now)).toMatch(/^in 3d/);
  });

  it("name days as people do", () => {
    expect(dayName(now, now)).toBe("Today");
    expect(dayName(now - 86_400_000, now)).toBe("Yesterday");
  });
});

describe("clientName", () => {
  it("says what people say", () => {
    const agent =
      "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/156.0.0.0 Safari/537.36";
    expect(clientName(`127.0.0.1 ${agent}`)).toBe("127.0.0.1 Chromium on Linux");
    expect(clientName("127.0.0.1 cli")).toBe("127.0.0.1 cli");
  });
});

describe("titleOf", () => {
  it("is the first visible line", () => {
    expect(titleOf("\n  ## Ship the parser \nmore")).toBe("Ship the parser");
    expect(titleOf(" \n#\n")).toBe("Untitled");
    expect([...titleOf("é".repeat(100))]).toHaveLength(81);
  });
});
