import { describe, expect, it } from "vitest";
import { readTasks } from "./task-text";

const titles = (text: string) => readTasks(text).tasks.map((task) => task.description);

const LIST = `# Parser

Words for people.

- [ ] Write the lexer {#lexer}
  Keep trivia.

  - one detail
  - files: \`src/lexer.rs\`, src/token.rs
  - priority: 7
  - accept: command: \`cargo test lexer\`
  - accept:
    - file_exists: src/lexer.rs
    - Somebody new understands it
      at once
  - context: the old one is in git
    under v1
- [ ] Write the parser
  - after: lexer, setup
  - needs: rust
  * [ ] Grammar of expressions

        let x = 1;
  * [ ] Grammar of statements {#statements}
      - deps: lexer
  * [x] Grammar of types
  More about the parser.
- [X] Set up {#setup}
1. [ ] Write docs
   \`\`\`md
   - [ ] an example, no task
   \`\`\`
`;

describe("pasted tasks", () => {
  it("are the open checkboxes of a Markdown list, with the text below", () => {
    const read = readTasks(
      "# Plan\n\n- [ ] Fix the parser\n  It loses the last line.\n\n  - keep the tests\n- [x] Done already\n* [ ] Second\n\nThe end.",
    );
    expect(read.format).toBe("markdown");
    expect(read.tasks.map((task) => task.description)).toEqual([
      "Fix the parser\n\nIt loses the last line.\n\n- keep the tests",
      "Second",
    ]);
    expect(read.skipped).toBe(1);
    expect(read.errors).toEqual([]);
  });

  it("have no unknown fields", () => {
    const wrong = readTasks(
      "- [ ] x\n  - depends: y\n  - accpet: committed\n  - owner: Ada\n  - Note: this is fine\n",
    );
    expect(wrong.errors.map(({ line, message }) => `${line} ${message.split(" Known")[0]}`)).toEqual([
      "2 There is no field “depends”; did you mean “deps”?",
      "3 There is no field “accpet”; did you mean “accept”?",
      "4 There is no field “owner”.",
    ]);
    const words =
      "- [ ] x\n  See https://example.org: there\n  - Windows: keep CRLF\n  - std::io is fine\n    - nested: too\n";
    expect(readTasks(words).errors).toEqual([]);
  });

  it("are parsed from Markdown like on the command line", () => {
    const read = readTasks(LIST);
    expect(read.errors).toEqual([]);
    expect(read.skipped).toBe(2);
    const [lexer, parser, expressions, statements, docs] = read.tasks;
    expect(lexer).toEqual({
      id: "lexer",
      description: "Write the lexer\n\nKeep trivia.\n\n- one detail",
      files: ["src/lexer.rs", "src/token.rs"],
      priority: 7,
      acceptance: [
        { kind: "command", argv: ["cargo", "test", "lexer"] },
        { kind: "file_exists", path: "src/lexer.rs" },
        { kind: "text", text: "Somebody new understands it at once" },
      ],
      context: "the old one is in git\nunder v1",
    });
    expect(parser).toMatchObject({
      description: "Write the parser\n\nMore about the parser.",
      needs: ["rust"],
      deps: ["lexer", expressions?.id, "statements"],
    });
    expect(expressions?.description).toBe("Grammar of expressions\n\nlet x = 1;");
    expect(statements?.deps).toEqual(["lexer"]);
    expect(docs?.description).toContain("- [ ] an example");
  });

  it("have errors with line numbers in Markdown", () => {
    const read = readTasks("- [ ]\n- [ ] x\n  - priority: high\n  - accept: command:\n  - id: a\n  - id: b");
    expect(read.errors.map((error) => error.line)).toEqual([1, 3, 4, 6]);
  });

  it("can be JSON: one task, a list, or a file for the command line", () => {
    expect(titles('{"description":"a"}')).toEqual(["a"]);
    expect(titles('[{"description":"a"},{"id":"b","description":"b","deps":["a"]}]')).toEqual(["a", "b"]);
    expect(titles('{"tasks":[{"description":"a"}]}')).toEqual(["a"]);
    expect(readTasks('[{"id":"b","description":"b","deps":["a"]}]').tasks[0]?.deps).toEqual(["a"]);
  });

  it("can be JSON Lines, with line numbers of errors", () => {
    const read = readTasks('{"description":"a"}\n{"description":"b"}\n{"description":');
    expect(read.format).toBe("jsonl");
    expect(read.tasks).toHaveLength(2);
    expect(read.errors).toMatchObject([{ line: 3 }]);
  });

  it("are rejected when empty", () => {
    expect(readTasks("just words").errors[0]?.message).toContain("- [ ]");
    expect(readTasks('[{"title":"x"}]').errors[0]?.message).toContain("description");
    expect(readTasks("[1]").errors[0]?.message).toContain("not an object");
    expect(readTasks("").errors).toEqual([]);
  });
});
