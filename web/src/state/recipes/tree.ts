import type { ExecutionStep, StepKind } from "../../protocol";

/** A step of the graph. */
export type StepNode = {
  path: string;
  id: string;
  kind: StepKind;
  /** The step as it is now; null: it has not begun. */
  step: ExecutionStep | null;
  /** The condition under which it runs. */
  when: string | null;
  /** What it does, in a line. */
  about: string;
  /** The lists of a block; null: it is no block. */
  lanes: Lane[] | null;
};

/** A list of steps in a block. */
export type Lane = { key: string; title: string; nodes: StepNode[] };

type Json = Record<string, unknown>;
type Live = { byPath: ReadonlyMap<string, ExecutionStep>; paths: readonly string[] };

/** The steps of a recipe as a tree, with their states. */
export function treeOf(model: Json, steps: readonly ExecutionStep[] = []): StepNode[] {
  const live = {
    byPath: new Map(steps.map((step) => [step.path, step])),
    paths: steps.map((one) => one.path),
  };
  return listOf(model.steps, "", live);
}

/** All nodes of a tree, in the order in which they are drawn. */
export function flat(nodes: readonly StepNode[]): StepNode[] {
  return nodes.flatMap((node) => [node, ...(node.lanes ?? []).flatMap((lane) => flat(lane.nodes))]);
}

/** The step to show first: one that asks, then one that failed, runs or waits, then the last that has begun. */
export function firstOf(nodes: readonly StepNode[]): StepNode | null {
  const all = flat(nodes);
  const leaves = all.filter((node) => node.lanes === null);
  const found =
    leaves.find((node) => asks(node.step)) ??
    leaves.find((node) => node.step?.status === "failed") ??
    leaves.find(
      (node) => node.step && ["running", "waiting", "retrying", "held"].includes(node.step.status),
    ) ??
    leaves.findLast((node) => node.step !== null);
  return found ?? all[0] ?? null;
}

/** Whether a step needs a person. */
export function asks(step: ExecutionStep | null): boolean {
  return (
    step !== null && (step.status === "interrupted" || (step.status === "waiting" && step.question !== null))
  );
}

function listOf(steps: unknown, prefix: string, live: Live): StepNode[] {
  return array(steps).map((one) => {
    const step = object(one);
    const action = object(step.action);
    const id = text(step.id);
    const path = prefix + id;
    const kind = text(action.kind) as StepKind;
    return {
      path,
      id,
      kind,
      step: live.byPath.get(path) ?? null,
      when: typeof step.when === "string" ? step.when : null,
      about: aboutOf(kind, action),
      lanes: lanesOf(kind, action, path, live),
    };
  });
}

function lanesOf(kind: StepKind, action: Json, path: string, live: Live): Lane[] | null {
  const lane = (key: string, title: string, steps: unknown) => ({
    key,
    title,
    nodes: listOf(steps, `${path}[${key}]/`, live),
  });
  if (kind === "branch")
    return array(action.cases).map((one, at) => {
      const { when, steps } = object(one);
      return lane(String(at), typeof when === "string" ? `if ${when}` : "else", steps);
    });
  if (kind === "parallel")
    return array(action.branches).map((one) => {
      const { name, steps } = object(one);
      return lane(text(name), text(name), steps);
    });
  if (kind !== "for_each") return null;
  const keys = keysIn(path, live.paths);
  if (keys.length === 0) return [lane("…", "each item", action.steps)];
  return keys.map((key) => lane(key, `${text(action.name)} ${key}`, action.steps));
}

// The keys of the items whose steps have begun.
function keysIn(path: string, paths: readonly string[]): string[] {
  const found = new Set<string>();
  for (const one of paths) {
    if (!one.startsWith(`${path}[`)) continue;
    const end = one.indexOf("]/", path.length);
    if (end > 0) found.add(one.slice(path.length + 1, end));
  }
  return [...found];
}

function aboutOf(kind: StepKind, action: Json): string {
  const first = (value: unknown) => text(value).trim().split("\n")[0] ?? "";
  switch (kind) {
    case "agent":
      return first(action.title) || first(action.prompt) || first(action.profile) || first(action.agent);
    case "run":
      return array(action.argv).map(text).join(" ") || text(action.argv_of);
    case "task":
      return array(action.tasks)
        .map((one) => first(object(one).title) || first(object(one).description))
        .filter(Boolean)
        .join(", ");
    case "wait": {
      const event = object(action.event);
      return text(action.span) || text(action.until) || text(event.kind);
    }
    case "approve":
      return first(action.question);
    case "for_each":
      return text(action.items);
    case "notify":
      return first(action.text);
    case "merge":
      return text(action.branch);
    case "call":
      return text(action.recipe);
    case "end":
      return action.success === false ? "as failed" : "as completed";
    default:
      return "";
  }
}

function array(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}

function object(value: unknown): Json {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Json) : {};
}

function text(value: unknown): string {
  return typeof value === "string" ? value : "";
}
