import { expect, test } from "vitest";
import { pick, writtenBy } from "./documents";

test("at most two documents are selected", () => {
  expect(pick([], "hnd_1")).toEqual(["hnd_1"]);
  expect(pick(["hnd_1"], "hnd_2")).toEqual(["hnd_1", "hnd_2"]);
  expect(pick(["hnd_1", "hnd_2"], "hnd_3")).toEqual(["hnd_2", "hnd_3"]);
  expect(pick(["hnd_1", "hnd_2"], "hnd_1")).toEqual(["hnd_2"]);
});

test("a document says who wrote it", () => {
  expect(writtenBy("agent")).toBe("written by its agent");
  expect(writtenBy(null)).toBe("facts only");
});
