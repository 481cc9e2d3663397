import type { Criterion, TaskAdd } from "../../protocol";
import { argvOf } from "../../state/execution/agents";

/** A criterion in the form; `as`: the one of the task that is edited. */
export type Draft = { kind: Criterion["kind"]; value: string; as?: Criterion };

/** The kinds of criteria in the form; the others need JSON. */
export const KINDS: readonly { kind: Criterion["kind"]; word: string; placeholder: string | null }[] = [
  { kind: "command", word: "Command passes", placeholder: "cargo test -p parser" },
  { kind: "file_exists", word: "File exists", placeholder: "docs/parser.md" },
  { kind: "only_touches", word: "Only these files change", placeholder: "src/parser/**, tests/*" },
  { kind: "committed", word: "Everything is committed", placeholder: null },
  { kind: "no_conflict_with_base", word: "No conflict with the base branch", placeholder: null },
  { kind: "approved", word: "Person approves the changes", placeholder: null },
  { kind: "merged", word: "Work is merged", placeholder: null },
  { kind: "text", word: "Person reviews", placeholder: "The text is easy to understand" },
];

/** Splits a text at commas and spaces. */
export function listOf(text: string): string[] {
  return text.split(/[\s,]+/u).filter(Boolean);
}

/** The criterion from the form; null while it is empty. */
export function criterionOf({ kind, value }: Draft): Criterion | null {
  const text = value.trim();
  switch (kind) {
    case "committed":
      return { kind };
    case "no_conflict_with_base":
      return { kind };
    case "approved":
      return { kind };
    case "merged":
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

/** The fields of the form. */
export type Form = {
  description: string;
  context: string;
  criteria: readonly Draft[];
  files: string;
  needs: string;
  labels: string;
  deps: readonly string[];
  priority: number;
  activity: string;
};

/** The form as input for the hub. */
export function taskOf(form: Form): TaskAdd {
  const acceptance = form.criteria.flatMap((one) => criterionOf(one) ?? []);
  const files = listOf(form.files);
  const needs = listOf(form.needs);
  const labels = listOf(form.labels);
  return {
    description: form.description,
    ...(form.context.trim() ? { context: form.context } : {}),
    ...(acceptance.length > 0 ? { acceptance } : {}),
    ...(files.length > 0 ? { files } : {}),
    ...(needs.length > 0 ? { needs } : {}),
    ...(labels.length > 0 ? { labels } : {}),
    ...(form.deps.length > 0 ? { deps: [...form.deps] } : {}),
    ...(form.priority === 5 ? {} : { priority: form.priority }),
    ...(form.activity ? { activity: form.activity } : {}),
  };
}
