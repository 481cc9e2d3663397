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

describe("the repository form", () => {
  it("returns the same repository without changes", () => {
    expect(readDraft(draftOf(all), all)).toEqual(all);
    expect(readDraft(draftOf(bare), bare)).toEqual(bare);
  });

  it("clears emptied fields and trims values", () => {
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

  it("reads the branch after #, as on the command line", () => {
    const read = (location: string, branch = "") => readDraft({ ...empty, location, branch }, null);
    expect(read("git@example.org:shop.git#next")).toEqual({
      location: "git@example.org:shop.git",
      base_branch: "next",
    });
    expect(read("/shop#next", "next")).toEqual({ location: "/shop", base_branch: "next" });
    expect(read("/shop#next", "main")).toEqual({
      branch: "The location already names the branch `next`. Remove one of them.",
    });
    for (const bad of ["#next", "/shop#"])
      expect(read(bad)).toEqual({ location: "expected LOCATION or LOCATION#BRANCH" });
    const odd = { location: "/c#/shop", base_branch: null };
    expect(readDraft({ ...draftOf(odd), setup: "make" }, odd)).toEqual({ ...odd, setup: "make" });
  });

  it("rejects invalid ports with the text of the command line", () => {
    for (const ports of ["4000", "a-b", "4099-4000", "0-9", "4000-70000", "4000-4099-5000"]) {
      const read = readDraft({ ...empty, location: "/shop", ports }, null);
      expect(read).toEqual({ ports: `\`${ports}\` is not a range of ports, such as 4000-4099` });
      expect(isRead(read)).toBe(false);
    }
  });
});

describe("a rejection by the hub", () => {
  const problem = (...errors: { field: string; message: string }[]): Problem => ({
    kind: "invalid",
    status: 422,
    detail: "no",
    errors,
  });

  it("is shown beside its field", () => {
    const refused = problem({
      field: "repositories.teardown",
      message: "`repositories.teardown` is too long",
    });
    expect(refusals(refused)).toEqual({
      errors: { teardown: "`repositories.teardown` is too long" },
      rest: null,
    });
  });

  it("is shown above the form when it has no field", () => {
    const refused = problem({ field: "repositories", message: "a project has at most 50 repositories" });
    expect(refusals(refused)).toEqual({ errors: {}, rest: refused });
  });
});

describe("the list of repositories", () => {
  it("replaces an edited repository in place and appends a new one", () => {
    expect(putRepository([bare, all], all, { ...all, base_branch: "next" })).toEqual([
      bare,
      { ...all, base_branch: "next" },
    ]);
    expect(putRepository([bare], null, all)).toEqual([bare, all]);
  });

  it("does not overwrite a concurrent change", () => {
    expect(putRepository([{ ...all, setup: "pnpm i" }], all, { ...all, base_branch: "next" })).toBeNull();
    expect(isSame(bare, { ...bare, copy: [] })).toBe(true);
  });

  it("lists the settings", () => {
    expect(particulars(bare)).toEqual([]);
    expect(particulars(all).map((one) => `${one.word} ${one.text}`)).toEqual([
      "Setup npm ci",
      "Teardown docker compose down",
      "Copied files .env, config/*.local",
      "Ports 4000-4099",
    ]);
  });
});
