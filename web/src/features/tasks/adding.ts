import type { Criterion, TaskAdd } from "../../protocol";
import { argvOf } from "../../state/execution/agents";

/** A criterion as it is filled in: what kind, and its words. */
export type Draft = { kind: Criterion["kind"]; value: string };

/** The kinds that can be filled in here; the others come by JSON. */
export const KINDS: readonly { kind: Criterion["kind"]; word: string; placeholder: string | null }[] = [
  { kind: "command", word: "A command passes", placeholder: "cargo test -p parser" },
  { kind: "file_exists", word: "A file is there", placeholder: "docs/parser.md" },
  { kind: "only_touches", word: "Only these files change", placeholder: "src/parser/**, tests/*" },
  { kind: "committed", word: "Everything is committed", placeholder: null },
  { kind: "no_conflict_with_base", word: "No conflict with the base", placeholder: null },
  { kind: "text", word: "A person judges", placeholder: "The words are easy to understand" },
];

/** Words between commas or spaces. */
export function listOf(text: string): string[] {
  return text.split(/[\s,]+/u).filter(Boolean);
}

/** The criterion that was filled in; null while it says nothing. */
export function criterionOf({ kind, value }: Draft): Criterion | null {
  const text = value.trim();
  switch (kind) {
    case "committed":
      return { kind };
    case "no_conflict_with_base":
      return { kind };
    case "command": {
      const argv = argvOf(text);
      return argv.length > 0 ? { kind, argv } : null;
    }
    case "file_exists":
      return text ? { kind, path: text } : null;
    case "only_touches": {
      const globs = listOf(text);
      return globs.length > 0 ? { kind, globs } : null;
    }
    case "text":
      return text ? { kind, text } : null;
    case "file_matches":
      return null;
  }
}

/** One task as it was filled in. */
export type Form = {
  description: string;
  context: string;
  criteria: readonly Draft[];
  files: string;
  needs: string;
  deps: readonly string[];
  priority: number;
  activity: string;
};

/** What is asked of the hub. */
export function taskOf(form: Form): TaskAdd {
  const acceptance = form.criteria.flatMap((one) => criterionOf(one) ?? []);
  const files = listOf(form.files);
  const needs = listOf(form.needs);
  return {
    description: form.description,
    ...(form.context.trim() ? { context: form.context } : {}),
    ...(acceptance.length > 0 ? { acceptance } : {}),
    ...(files.length > 0 ? { files } : {}),
    ...(needs.length > 0 ? { needs } : {}),
    ...(form.deps.length > 0 ? { deps: [...form.deps] } : {}),
    ...(form.priority === 5 ? {} : { priority: form.priority }),
    ...(form.activity ? { activity: form.activity } : {}),
  };
}
