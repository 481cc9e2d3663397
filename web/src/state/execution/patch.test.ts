import { expect, it } from "vitest";
import { patchOf } from "./patch";

it("patchOf writes a git patch", () => {
  const file = {
    change: "modified",
    old_mode: "100644",
    mode: "100644",
    binary: false,
    insertions: 1,
    deletions: 1,
    old_path: null,
    exact: true,
  };
  const patch = patchOf({
    truncated: false,
    files: [
      {
        ...file,
        path: "a.rs",
        hunks: [
          {
            old_start: 3,
            new_start: 3,
            old_open: false,
            new_open: false,
            lines: [
              { kind: "same", text: "one" },
              { kind: "removed", text: "two" },
              { kind: "added", text: "three" },
            ],
          },
        ],
      },
      { ...file, path: "b.png", old_path: "a.png", binary: true, hunks: [] },
    ],
  });
  expect(patch).toBe(
    "diff --git a/a.rs b/a.rs\n@@ -3 +3 @@\n one\n-two\n+three\ndiff --git a/a.png b/b.png\nBinary file\n",
  );
});
