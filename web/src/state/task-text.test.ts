import { describe, expect, it } from "vitest";
import { readTasks } from "./task-text";

const titles = (text: string) => readTasks(text).tasks.map((task) => task.description);

describe("tasks in pasted text", () => {
  it("are the open boxes of a Markdown list, with what is written under them", () => {
    const read = readTasks(
      "# Plan\n\n- [ ] Fix the parser\n  It loses the last line.\n\n  - keep the tests\n- [x] Done already\n* [ ] Second\n\nThe end.",
    );
    expect(read.format).toBe("markdown");
    expect(read.tasks.map((task) => task.description)).toEqual([
      "Fix the parser\nIt loses the last line.\n\n- keep the tests",
      "Second",
    ]);
    expect(read.skipped).toBe(1);
    expect(read.errors).toEqual([]);
  });

  it("may be nested boxes: each is a task", () => {
    expect(titles("- [ ] one\n  - [ ] two\n")).toEqual(["one", "two"]);
  });

  it("are JSON: one, many, or the file of the command line", () => {
    expect(titles('{"description":"a"}')).toEqual(["a"]);
    expect(titles('[{"description":"a"},{"id":"b","description":"b","deps":["a"]}]')).toEqual(["a", "b"]);
    expect(titles('{"tasks":[{"description":"a"}]}')).toEqual(["a"]);
    expect(readTasks('[{"id":"b","description":"b","deps":["a"]}]').tasks[0]?.deps).toEqual(["a"]);
  });

  it("are lines of JSON, and a broken one is named by its line", () => {
    const read = readTasks('{"description":"a"}\n{"description":"b"}\n{"description":');
    expect(read.format).toBe("jsonl");
    expect(read.tasks).toHaveLength(2);
    expect(read.errors).toMatchObject([{ line: 3 }]);
  });

  it("that say nothing are refused with a reason", () => {
    expect(readTasks("just words").errors[0]?.message).toContain("- [ ]");
    expect(readTasks('[{"title":"x"}]').errors[0]?.message).toContain("description");
    expect(readTasks("[1]").errors[0]?.message).toContain("no object");
    expect(readTasks("").errors).toEqual([]);
  });
});
