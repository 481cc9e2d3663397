import type { Problem } from "../../lib/failure";
import type { PortRange, Repository } from "../../protocol";

/** The form of a repository. */
export type Draft = {
  location: string;
  branch: string;
  setup: string;
  teardown: string;
  /** One glob per line. */
  copy: string;
  ports: string;
};

/** The errors of the form, by field. */
export type DraftErrors = Partial<Record<keyof Draft, string>>;

/** The hub's names of the fields. */
const FIELDS: Readonly<Record<string, keyof Draft>> = {
  "repositories.location": "location",
  "repositories.base_branch": "branch",
  "repositories.setup": "setup",
  "repositories.teardown": "teardown",
  "repositories.copy": "copy",
  "repositories.ports": "ports",
};

/** The initial values of the form. */
export function draftOf(repository: Repository | null): Draft {
  return {
    location: repository?.location ?? "",
    branch: repository?.base_branch ?? "",
    setup: repository?.setup ?? "",
    teardown: repository?.teardown ?? "",
    copy: (repository?.copy ?? []).join("\n"),
    ports: repository?.ports ? portsOf(repository.ports) : "",
  };
}

/** A port range as text. */
export function portsOf({ first, last }: PortRange): string {
  return `${first}-${last}`;
}

/** The repository from the form, or its errors, with the same texts as on the command line. */
export function readDraft(draft: Draft, before: Repository | null): Repository | DraftErrors {
  const errors: DraftErrors = {};
  const repository: Repository = {
    location: draft.location.trim(),
    base_branch: draft.branch.trim() || null,
  };
  const at = repository.location.lastIndexOf("#");
  if (at >= 0 && repository.location !== before?.location) {
    const branch = repository.location.slice(at + 1);
    repository.location = repository.location.slice(0, at);
    if (!repository.location || !branch) errors.location = "expected LOCATION or LOCATION#BRANCH";
    else if (repository.base_branch && repository.base_branch !== branch)
      errors.branch = `The location already names the branch \`${branch}\`. Remove one of them.`;
    else repository.base_branch = branch;
  }
  if (draft.setup.trim()) repository.setup = draft.setup.trim();
  if (draft.teardown.trim()) repository.teardown = draft.teardown.trim();
  const copy = draft.copy
    .split("\n")
    .map((line) => line.trim())
    .filter(Boolean);
  if (copy.length > 0) repository.copy = copy;
  if (draft.ports.trim()) {
    const ports = readPorts(draft.ports.trim());
    if (ports) repository.ports = ports;
    else errors.ports = `\`${draft.ports.trim()}\` is not a range of ports, such as 4000-4099`;
  }
  return Object.keys(errors).length > 0 ? errors : repository;
}

function readPorts(text: string): PortRange | null {
  const found = /^(\d{1,5})\s*[-–]\s*(\d{1,5})$/u.exec(text);
  const [first, last] = [Number(found?.[1]), Number(found?.[2])];
  return found && first >= 1 && first <= last && last <= 65_535 ? { first, last } : null;
}

/** Whether the form has no errors. */
export function isRead(read: Repository | DraftErrors): read is Repository {
  return "base_branch" in read;
}

/** Splits a problem into errors of fields and the rest. */
export function refusals(problem: Problem): { errors: DraftErrors; rest: Problem | null } {
  const errors: DraftErrors = {};
  for (const { field, message } of problem.errors ?? []) {
    const name = FIELDS[field];
    if (name) errors[name] ??= message;
  }
  return { errors, rest: Object.keys(errors).length > 0 ? null : problem };
}

/** The list with a repository replaced or added; null when the old one has changed meanwhile. */
export function putRepository(
  list: readonly Repository[],
  before: Repository | null,
  after: Repository,
): Repository[] | null {
  if (!before) return [...list, after];
  const at = list.findIndex((one) => isSame(one, before));
  return at < 0 ? null : list.map((one, index) => (index === at ? after : one));
}

/** Whether two repositories are equal. */
export function isSame(one: Repository, other: Repository): boolean {
  const [a, b] = [draftOf(one), draftOf(other)];
  return (Object.keys(a) as (keyof Draft)[]).every((name) => a[name] === b[name]);
}

/** The settings of a repository, as labels and texts. */
export function particulars(repository: Repository): { word: string; text: string }[] {
  return [
    { word: "Setup", text: repository.setup ?? "" },
    { word: "Teardown", text: repository.teardown ?? "" },
    { word: "Copied files", text: (repository.copy ?? []).join(", ") },
    { word: "Ports", text: repository.ports ? portsOf(repository.ports) : "" },
  ].filter((one) => one.text);
}
