import type { WorkspaceDiff } from "../../protocol";

const SIGN = { same: " ", added: "+", removed: "-" } as const;

/** A workspace's changes as a git patch. */
export function patchOf({ files }: WorkspaceDiff): string {
  return files
    .map((file) => {
      const hunks = file.hunks.map(
        (hunk) =>
          `@@ -${hunk.old_start} +${hunk.new_start} @@\n${hunk.lines.map((line) => SIGN[line.kind] + line.text).join("\n")}\n`,
      );
      return `diff --git a/${file.old_path ?? file.path} b/${file.path}\n${file.binary ? "Binary file\n" : hunks.join("")}`;
    })
    .join("");
}
