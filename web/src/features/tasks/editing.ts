import type { Criterion, Task, TaskEdit } from "../../protocol";
import { lineOf } from "../../state/execution/agents";
import { criterionOf, type Draft, type Form, listOf } from "./adding";

/** A criterion for the form; it stays as it is until it is changed there. */
export function draftOf(criterion: Criterion): Draft {
  return { kind: criterion.kind, value: valueOf(criterion), as: criterion };
}

function valueOf(criterion: Criterion): string {
  switch (criterion.kind) {
    case "command":
      return lineOf(criterion.argv);
    case "file_exists":
    case "file_matches":
      return criterion.path;
    case "only_touches":
      return criterion.globs.join(", ");
    case "text":
      return criterion.text;
    default:
      return "";
  }
}

/** The form for an existing task. */
export function formOf(task: Task): Form {
  return {
    description: task.description,
    context: task.context,
    criteria: task.acceptance.map(draftOf),
    files: task.files.join(", "),
    needs: task.needs.join(", "),
    labels: task.labels.join(", "),
    deps: task.deps,
    priority: task.priority,
    activity: task.activity ?? "",
  };
}

/** The criterion of a draft: the original one until the draft differs from it. */
function kept(draft: Draft): Criterion | null {
  const { as } = draft;
  const same = as && as.kind === draft.kind && valueOf(as) === draft.value;
  return same ? as : criterionOf(draft);
}

/** The changes in the form; null when there are none. */
export function changesOf(task: Task, form: Form): TaskEdit | null {
  const before = formOf(task);
  const acceptance = form.criteria.flatMap((one) => kept(one) ?? []);
  const changes: TaskEdit = {
    ...(form.description === before.description ? {} : { description: form.description }),
    ...(form.context === before.context ? {} : { context: form.context }),
    ...(JSON.stringify(acceptance) === JSON.stringify(task.acceptance) ? {} : { acceptance }),
    ...(form.files === before.files ? {} : { files: listOf(form.files) }),
    ...(form.needs === before.needs ? {} : { needs: listOf(form.needs) }),
    ...(form.labels === before.labels ? {} : { labels: listOf(form.labels) }),
    ...(form.deps.join() === before.deps.join() ? {} : { deps: [...form.deps] }),
    ...(form.priority === before.priority ? {} : { priority: form.priority }),
  };
  return Object.keys(changes).length > 0 ? { ...changes, expected_edits: task.edits } : null;
}
