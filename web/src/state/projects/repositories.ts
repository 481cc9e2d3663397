import type { Problem } from "../../lib/failure";
import type { PortRange, Repository } from "../../protocol";

/** A repository as it is being filled in: all of it text. */
export type Draft = {
  location: string;
  branch: string;
  setup: string;
  teardown: string;
  /** One pattern on each line. */
  copy: string;
  ports: string;
};

/** Why parts of a draft were refused. */
export type DraftErrors = Partial<Record<keyof Draft, string>>;

/** The hub's names of what a draft has. */
const FIELDS: Readonly<Record<string, keyof Draft>> = {
  "repositories.location": "location",
  "repositories.base_branch": "branch",
  "repositories.setup": "setup",
  "repositories.teardown": "teardown",
  "repositories.copy": "copy",
  "repositories.ports": "ports",
};

/** What is filled in at first. */
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

/** A range of ports as people write it. */
export function portsOf({ first, last }: PortRange): string {
  return `${first}-${last}`;
}

/** What was filled in, as the hub takes it, or what cannot be read of it, as the command line says it. */
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
      errors.branch = `behind # it is \`${branch}\`: name one of them`;
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
    else errors.ports = `\`${draft.ports.trim()}\` is not a range of ports, as 4000-4099`;
  }
  return Object.keys(errors).length > 0 ? errors : repository;
}

function readPorts(text: string): PortRange | null {
  const found = /^(\d{1,5})\s*[-–]\s*(\d{1,5})$/u.exec(text);
  const [first, last] = [Number(found?.[1]), Number(found?.[2])];
  return found && first >= 1 && first <= last && last <= 65_535 ? { first, last } : null;
}

/** Whether a draft could be read. */
export function isRead(read: Repository | DraftErrors): read is Repository {
  return "base_branch" in read;
}

/** Why the hub refused parts of a draft, and what is left of the problem that belongs to none of them. */
export function refusals(problem: Problem): { errors: DraftErrors; rest: Problem | null } {
  const errors: DraftErrors = {};
  for (const { field, message } of problem.errors ?? []) {
    const name = FIELDS[field];
    if (name) errors[name] ??= message;
  }
  return { errors, rest: Object.keys(errors).length > 0 ? null : problem };
}

/** The list with one of it replaced, or with one more; null when what is to be replaced has changed meanwhile. */
export function putRepository(
  list: readonly Repository[],
  before: Repository | null,
  after: Repository,
): Repository[] | null {
  if (!before) return [...list, after];
  const at = list.findIndex((one) => isSame(one, before));
  return at < 0 ? null : list.map((one, index) => (index === at ? after : one));
}

/** Whether two say the same. */
export function isSame(one: Repository, other: Repository): boolean {
  const [a, b] = [draftOf(one), draftOf(other)];
  return (Object.keys(a) as (keyof Draft)[]).every((name) => a[name] === b[name]);
}

/** What is said of a repository beside where it is, in words. */
export function particulars(repository: Repository): { word: string; text: string }[] {
  return [
    { word: "setup", text: repository.setup ?? "" },
    { word: "teardown", text: repository.teardown ?? "" },
    { word: "copies", text: (repository.copy ?? []).join(", ") },
    { word: "ports", text: repository.ports ? portsOf(repository.ports) : "" },
  ].filter((one) => one.text);
}
