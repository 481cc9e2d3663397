import { expect, it } from "vitest";
import { count, plural } from "./plural";

it("puts the noun into the form that the number needs", () => {
  expect(count(0, "task")).toBe("0 tasks");
  expect(count(1, "task")).toBe("1 task");
  expect(count(1_200, "task")).toBe("1,200 tasks");
  expect(count(2, "activity")).toBe("2 activities");
  expect(count(2, "day")).toBe("2 days");
  expect(count(3, "branch")).toBe("3 branches");
  expect(count(2, "person", "people")).toBe("2 people");
  expect(plural(1, "person", "people")).toBe("person");
});
