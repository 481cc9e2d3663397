import type { Problem } from "../../lib/failure";
import { describe, expect, it } from "vitest";
import type { Repository } from "../../protocol";
import { draftOf, isRead, isSame, particulars, putRepository, readDraft, refusals } from "./repositories";

const all: Repository = {
  location: "/home/ann/shop",
  base_branch: "main",
  setup: "npm ci",
  teardown: "docker compose down",
  copy: [".env", "config/*.local"],
  ports: { first: 4000, last: 4099 },
};
const bare: Repository = { location: "https://example.org/shop.git", base_branch: null };
const empty = draftOf(null);

describe("a repository that is filled in", () => {
  it("is what it was when nothing was changed", () => {
    expect(readDraft(draftOf(all), all)).toEqual(all);
    expect(readDraft(draftOf(bare), bare)).toEqual(bare);
  });

  it("loses what is emptied and gets what is written, without white space around it", () => {
    const draft = {
      ...draftOf(all),
      setup: " ",
      copy: "\n .env.test \n\n",
      ports: " 5000 - 5009 ",
      branch: "",
    };
    expect(readDraft(draft, all)).toEqual({
      location: "/home/ann/shop",
      base_branch: null,
      teardown: "docker compose down",
      copy: [".env.test"],
      ports: { first: 5000, last: 5009 },
    });
  });

  it("has its branch behind #, as on the command line", () => {
    const read = (location: string, branch = "") => readDraft({ ...empty, location, branch }, null);
    expect(read("git@example.org:shop.git#next")).toEqual({
      location: "git@example.org:shop.git",
      base_branch: "next",
    });
    expect(read("/shop#next", "next")).toEqual({ location: "/shop", base_branch: "next" });
    expect(read("/shop#next", "main")).toEqual({
      branch: "behind # it is `next`: name one of them",
    });
    for (const bad of ["#next", "/shop#"])
      expect(read(bad)).toEqual({ location: "expected LOCATION or LOCATION#BRANCH" });
    const odd = { location: "/c#/shop", base_branch: null };
    expect(readDraft({ ...draftOf(odd), setup: "make" }, odd)).toEqual({ ...odd, setup: "make" });
  });

  it("is refused with ports that are none, in the words of the command line", () => {
    for (const ports of ["4000", "a-b", "4099-4000", "0-9", "4000-70000", "4000-4099-5000"]) {
      const read = readDraft({ ...empty, location: "/shop", ports }, null);
      expect(read).toEqual({ ports: `\`${ports}\` is not a range of ports, as 4000-4099` });
      expect(isRead(read)).toBe(false);
    }
  });
});

describe("what the hub refuses", () => {
  const problem = (...errors: { field: string; message: string }[]): Problem => ({
    kind: "invalid",
    status: 422,
    detail: "no",
    errors,
  });

  it("stands beside its field", () => {
    const refused = problem({
      field: "repositories.teardown",
      message: "`repositories.teardown` is too long",
    });
    expect(refusals(refused)).toEqual({
      errors: { teardown: "`repositories.teardown` is too long" },
      rest: null,
    });
  });

  it("stands above when it belongs to no field", () => {
    const refused = problem({ field: "repositories", message: "a project has at most 50 repositories" });
    expect(refusals(refused)).toEqual({ errors: {}, rest: refused });
  });
});

describe("the list", () => {
  it("has the changed one in its place, and a new one last", () => {
    expect(putRepository([bare, all], all, { ...all, base_branch: "next" })).toEqual([
      bare,
      { ...all, base_branch: "next" },
    ]);
    expect(putRepository([bare], null, all)).toEqual([bare, all]);
  });

  it("does not overwrite what somebody changed meanwhile", () => {
    expect(putRepository([{ ...all, setup: "pnpm i" }], all, { ...all, base_branch: "next" })).toBeNull();
    expect(isSame(bare, { ...bare, copy: [] })).toBe(true);
  });

  it("says what is there", () => {
    expect(particulars(bare)).toEqual([]);
    expect(particulars(all).map((one) => `${one.word} ${one.text}`)).toEqual([
      "setup npm ci",
      "teardown docker compose down",
      "copies .env, config/*.local",
      "ports 4000-4099",
    ]);
  });
});
