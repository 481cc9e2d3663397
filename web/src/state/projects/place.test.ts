import { describe, expect, test } from "vitest";
import type { PathSeen } from "../../protocol";
import { judge, kindOf, withoutBranch } from "./place";

const seen = (part: Partial<PathSeen>): PathSeen => ({
  path: "/srv/shop",
  exists: true,
  repository: null,
  folders: [],
  more: false,
  problem: null,
  ...part,
});
const repository = (part: object) => ({
  root: "/srv/shop",
  branches: ["main"],
  default_branch: "main",
  ...part,
});

describe("a repository's location", () => {
  test.each([
    ["", "none"],
    ["~/shop", "path"],
    ["/srv/shop", "path"],
    ["https://host.test/shop", "address"],
    ["git@host.test:shop.git", "address"],
    ["shop", "unclear"],
    ["./shop", "unclear"],
  ])("%j is %s", (text, kind) => expect(kindOf(text)).toBe(kind));

  test("a branch is not part of the path", () => {
    expect(withoutBranch(" /srv/shop#next ")).toBe("/srv/shop");
    expect(withoutBranch("/srv/shop")).toBe("/srv/shop");
  });

  test("a mistyped path does not fit", () => {
    const judged = judge("/srv/shpo", seen({ path: "/srv/shpo", exists: false }), "vm");
    expect(judged).toMatchObject({ fits: false, text: "There is no folder /srv/shpo on vm." });
    expect(judge("/srv/shop", seen({}), "vm")).toMatchObject({ fits: false });
    expect(judge("/srv/shop", seen({ problem: "not readable" }), "vm")).toMatchObject({
      text: "not readable",
    });
  });

  test("a path is not judged before the runner answered", () =>
    expect(judge("/srv/shop", null, "vm").fits).toBe(false));

  test("without a runner a path is accepted unchecked", () =>
    expect(judge("/srv/shop", null, null)).toMatchObject({ fits: true, location: "/srv/shop" }));

  test("a repository is named by its root", () => {
    expect(judge("~/shop", seen({ repository: repository({}) }), "vm")).toMatchObject({
      fits: true,
      location: "/srv/shop",
    });
    const inside = judge("/srv/shop/src", seen({ path: "/srv/shop/src", repository: repository({}) }), "vm");
    expect(inside).toMatchObject({ fits: true, location: "/srv/shop" });
    expect(inside.text).toContain("Inside the repository /srv/shop");
  });

  test("a repository without commits does not fit", () => {
    const empty = repository({ branches: [], default_branch: null });
    const judged = judge("/srv/shop", seen({ repository: empty }), "vm");
    expect(judged).toMatchObject({ fits: false });
    expect(judged.text).toContain("no commits");
  });
});
