import { expect, it } from "vitest";
import { progressOf, progressWords } from "./progress";

it("cancelled tasks are not part of the progress", () => {
  const progress = progressOf([
    ["done", 2],
    ["ready", 3],
    ["cancelled", 5],
  ]);
  expect(progress).toEqual({ done: 2, total: 5, percent: 40 });
  expect(progressWords(progress)).toBe("2 of 5 done, 40 %");
  expect(progressWords(progressOf([["cancelled", 3]]))).toBe("Nothing to do");
});
