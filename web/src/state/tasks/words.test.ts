import { expect, it } from "vitest";
import { commitsOf } from "./words";

it("commitsOf names the newest commits and counts earlier ones", () => {
  const commits = (count: number): string[] => Array.from({ length: count }, (_, n) => `${n}`.repeat(40));
  expect(commitsOf({ commits: [], more_commits: 0 })).toBe("");
  expect(commitsOf({ commits: commits(2), more_commits: 0 })).toBe("000000000 111111111");
  expect(commitsOf({ commits: commits(6), more_commits: 3 })).toBe(
    "5 earlier 222222222 333333333 444444444 555555555",
  );
});
