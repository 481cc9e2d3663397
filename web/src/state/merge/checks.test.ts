import { describe, expect, it } from "vitest";
import { adviceOf, checksOf, draftsOf, problemOf } from "./checks";

describe("the checks of a merge queue", () => {
  const checks = [
    { argv: ["make", "test"], seconds: 600 },
    { argv: ["grep", "-q", "two words", "it's.md"], seconds: 5 },
    { argv: ["sh", "-c", "set -e\ncd web  &&  npm test\n[ \"$A\" = '1' ]"], seconds: 1200 },
    { argv: ["printf", "", "\\n", "a\\", '"', "#x", "~", "$HOME"], seconds: 1 },
  ];

  it("come back from the form exactly as they are, each with its own time limit", () => {
    expect(checksOf(draftsOf(checks))).toEqual(checks);
  });

  it("are read as a shell quotes them", () => {
    const read = (line: string) => checksOf([{ line, seconds: "9" }])?.[0]?.argv;
    expect(read(`sh -c "printf '\\n' && echo \\"a b\\" \\$A"`)).toEqual([
      "sh",
      "-c",
      `printf '\\n' && echo "a b" $A`,
    ]);
    expect(read("a\\ b ''")).toEqual(["a b", ""]);
    expect(read("  ")).toBeUndefined();
  });

  it("are not saved with an open quote or a wrong limit", () => {
    expect(problemOf({ line: "sh -c 'make", seconds: "9" })).toContain("quote");
    expect(problemOf({ line: "make", seconds: "0" })).toContain("limit");
    expect(problemOf({ line: "make", seconds: "1e3" })).toContain("limit");
    expect(
      checksOf([
        { line: "make", seconds: "9" },
        { line: 'x "', seconds: "9" },
      ]),
    ).toBeNull();
    expect(problemOf({ line: "", seconds: "" })).toBeNull();
  });

  it("have advice for shell syntax outside of quotes", () => {
    expect(adviceOf({ line: "make a && make b", seconds: "9" })).toContain("sh -c");
    expect(adviceOf({ line: "make > log", seconds: "9" })).toContain("sh -c");
    expect(adviceOf({ line: "sh -c 'a && b'", seconds: "9" })).toBeNull();
    expect(adviceOf({ line: "test a '>' b", seconds: "9" })).toBeNull();
  });
});
