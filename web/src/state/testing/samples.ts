import type {
  Activity,
  Approval,
  Candidate,
  Escalation,
  MergeQueue,
  Message,
  WorkOverlap,
  Project,
  Runner,
  Reservation,
  Session,
  TaskLine,
  User,
  Worker,
  WorkEntry,
  WorkSettings,
  Workspace,
} from "../../protocol";

const at = "2026-11-15T10:00:00.000Z";

/** A person for tests. */
export function user(id: string, more: Partial<User> = {}): User {
  return {
    id,
    name: id,
    hub_owner: false,
    disabled: false,
    connected: false,
    last_seen_at: null,
    created_at: at,
    ...more,
  };
}

/** A project for tests. */
export function project(id: string, more: Partial<Project> = {}): Project {
  return {
    id,
    name: id,
    key: "CALC",
    owner: { id: "ann", name: "ann" },
    visibility: "read-write",
    share_execution: false,
    archive_recordings: false,
    retention_days: null,
    sandbox_others: false,
    content: id,
    version: 1,
    repositories: [],
    created_at: at,
    updated_at: at,
    ...more,
  };
}

/** A merge queue for tests. */
export function mergeQueue(more: Partial<MergeQueue> = {}): MergeQueue {
  return {
    project: "p",
    target: "main",
    gate: "open",
    reason: null,
    tip: null,
    candidates: [],
    runs: [],
    failure_percent: 10,
    flaky: 0,
    flaky_checks: [],
    failed_together: [],
    suspects: [],
    check_ms: null,
    expected_at: null,
    no_checks: false,
    ...more,
  };
}

/** A branch in a merge queue for tests. */
export function candidate(id: string, more: Partial<Candidate> = {}): Candidate {
  return {
    id,
    project: "p",
    target: "main",
    branch: id,
    title: id,
    task: null,
    activity: null,
    priority: 0,
    after: [],
    fix: false,
    state: "waiting",
    reason: null,
    run: null,
    head: null,
    landed: null,
    edits_checks: [],
    expected_at: null,
    runs: 0,
    cost_ms: 0,
    added_by: { id: "ann", name: "ann" },
    by_agent: false,
    added_at: at,
    ended_at: null,
    ...more,
  };
}

/** An activity for tests. */
export function activity(id: string, more: Partial<Activity> = {}): Activity {
  return {
    id,
    project: "p",
    name: id,
    owner: { id: "ann", name: "ann" },
    status: "active",
    content: id,
    version: 1,
    links: [],
    created_at: at,
    updated_at: at,
    ...more,
  };
}

/** A message for tests. */
export function message(number: number, more: Partial<Message> = {}): Message {
  return {
    id: `m${number}`,
    project: "p",
    number,
    author: { id: "bo", name: "bo" },
    author_kind: "user",
    content: `text ${number}`,
    references: [],
    mentions: [],
    created_at: at,
    edited_at: null,
    deleted_at: null,
    ...more,
  };
}

/** A session for tests. */
export function session(id: string, more: Partial<Session> = {}): Session {
  return {
    id,
    project: "p",
    activity: "a",
    workspace: "w",
    runner: "r",
    owner: { id: "ann", name: "ann" },
    asked_by: null,
    agent: "codex",
    mode: "interactive",
    model: null,
    title: id,
    state: status("working"),
    stopping: false,
    worker: null,
    task: null,
    usage: { input_tokens: 0, cached_tokens: 0, output_tokens: 0, cost_micros: null },
    resumable: false,
    resumes: null,
    sandbox: false,
    keyboard: { holder: null, requests: [] },
    recording: { output_bytes: 0, disk_bytes: 0, duration_ms: 0, keep: false },
    created_at: at,
    ...more,
  };
}

/** The state of a session for tests. */
export function status(
  is: Session["state"]["status"],
  more: Partial<Session["state"]> = {},
): Session["state"] {
  return { status: is, detail: null, code: null, signal: null, since: at, ...more };
}

/** A workspace for tests. */
export function workspace(id: string, more: Partial<Workspace> = {}): Workspace {
  return {
    id,
    project: "p",
    activity: "a",
    runner: "r",
    owner: { id: "ann", name: "ann" },
    repository: null,
    branch: null,
    base: null,
    path: null,
    status: "ready",
    detail: null,
    ports: null,
    stats: null,
    disk_bytes: null,
    saved_at: null,
    created_at: at,
    updated_at: at,
    ...more,
  };
}

/** A runner for tests. */
export function runner(id: string, more: Partial<Runner> = {}): Runner {
  return {
    id,
    name: id,
    owner: { id: "ann", name: "ann" },
    connected: true,
    last_seen_at: at,
    created_at: at,
    about: null,
    policy: "ask",
    sandbox_others: false,
    ...more,
  };
}

/** A task for tests. */
export function task(id: string, more: Partial<TaskLine> = {}): TaskLine {
  return {
    id,
    short: "CALC-1",
    project: "p",
    activity: null,
    title: id,
    status: "ready",
    reason: null,
    priority: 5,
    labels: [],
    needs: [],
    attempt: 0,
    assigned_to: null,
    session: null,
    progress: null,
    deps: [],
    waits_for: 0,
    created_at: at,
    updated_at: at,
    ...more,
  };
}

/** A worker for tests. */
export function worker(id: string, more: Partial<Worker> = {}): Worker {
  return {
    id,
    project: "p",
    owner: { id: "ann", name: "ann" },
    name: id,
    kind: "managed",
    runner: "r",
    agent: "codex",
    model: null,
    role: null,
    abilities: [],
    colour: 0,
    status: "idle",
    reason: null,
    until: null,
    task: null,
    session: null,
    queue: [],
    failures: 0,
    done: 0,
    failed: 0,
    usage: { input_tokens: 0, cached_tokens: 0, output_tokens: 0, cost_micros: null },
    budget_micros: null,
    handoff_after_micros: null,
    context_score: null,
    seen_at: at,
    created_at: at,
    ...more,
  };
}

/** An escalation for tests. */
export function escalation(id: string, more: Partial<Escalation> = {}): Escalation {
  return {
    id,
    project: "p",
    task: "t",
    title: "t",
    kind: "question",
    worker: null,
    session: null,
    question: "Which?",
    options: [],
    context: {
      text: "",
      screen: null,
      diff: null,
      missing: null,
      other_task: null,
      other_diff: null,
      places: [],
      runner: null,
      attempts: [],
    },
    created_at: at,
    answered_by: null,
    answered_at: null,
    answer: null,
    act: null,
    ...more,
  };
}

/** An approval for tests: Bo's command would check a task on Ann's runner. */
export function approval(id: string, more: Partial<Approval> = {}): Approval {
  return {
    id,
    project: "p",
    project_name: "p",
    runner: "r",
    runner_name: "r",
    kind: "command",
    text: "make test",
    sha256: "0".repeat(64),
    author: { user: { id: "bo", name: "bo" }, agent: null, by_agent: false },
    why: "it would check the work on `t`",
    sandbox: false,
    session: null,
    report: "rep",
    task: "t",
    workspace: "w",
    created_at: at,
    answer: null,
    answered_at: null,
    ...more,
  };
}

/** A decision for tests. */
export function entry(number: number, more: Partial<WorkEntry> = {}): WorkEntry {
  return {
    number,
    at,
    project: "p",
    worker: null,
    task: null,
    what: "scaled_up",
    reason: "12 tasks wait",
    ...more,
  };
}

/** Task settings for tests. */
export function settings(more: Partial<WorkSettings> = {}): WorkSettings {
  return {
    strategy: "least_loaded",
    lease_seconds: 90,
    heartbeat_seconds: 30,
    missed: 3,
    task_minutes: 0,
    tries_per_worker: 2,
    workers_per_task: 2,
    breaker_failures: 3,
    breaker_seconds: 300,
    scale_least: 0,
    scale_most: 0,
    scale_tasks_per_worker: 4,
    scale_idle_seconds: 300,
    budget_micros: null,
    frozen: false,
    frozen_by: [],
    ...more,
  };
}

/** An overlap of the activities `a` and `b` for tests. */
export function overlap(id: string, more: Partial<WorkOverlap> = {}): WorkOverlap {
  const side = (name: string) => ({
    activity: name,
    name,
    workspace: `w${name}`,
    reservation: null,
    task: null,
    until: null,
    owner: { id: name, name },
  });
  return {
    id,
    project: "p",
    one: side("a"),
    other: side("b"),
    base: null,
    kind: "same_lines",
    places: [
      {
        path: "calc.py",
        kind: "same_lines",
        first: 1,
        last: 1,
        symbol: null,
        why: "both branches change these lines",
      },
    ],
    more: 0,
    since: at,
    updated_at: at,
    ended_at: null,
    ...more,
  };
}

/** A reservation of the activity `a` for tests. */
export function reservation(id: string, more: Partial<Reservation> = {}): Reservation {
  return {
    id,
    project: "p",
    activity: "a",
    name: "a",
    by: { id: "u", name: "u" },
    by_agent: false,
    patterns: ["src/**"],
    reason: null,
    since: at,
    expires_at: "2026-11-15T14:30:00.000Z",
    ended_at: null,
    ...more,
  };
}
