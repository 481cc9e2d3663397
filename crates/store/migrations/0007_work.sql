-- Tasks, attempts, reports, escalations and workers. Leases and fences are columns of the task, so that the statement
-- that writes a task also checks them.

CREATE TABLE tasks (
    id TEXT PRIMARY KEY,
    project TEXT NOT NULL REFERENCES projects (id),
    -- Counts the tasks of the project: with the project's key the short name.
    number BIGINT NOT NULL,
    activity TEXT REFERENCES activities (id),
    title TEXT NOT NULL,
    description TEXT NOT NULL,
    context TEXT NOT NULL,
    acceptance TEXT NOT NULL,
    files TEXT NOT NULL,
    needs TEXT NOT NULL,
    labels TEXT NOT NULL,
    deps TEXT NOT NULL,
    priority BIGINT NOT NULL,
    status TEXT NOT NULL,
    reason TEXT,
    -- Why no worker takes a ready task, other than that all are busy; or who must allow what for a held one.
    waiting TEXT,
    attempt BIGINT NOT NULL,
    fence BIGINT NOT NULL,
    worker TEXT,
    lease_until BIGINT,
    session TEXT,
    workspace TEXT,
    progress TEXT,
    -- How often the current worker's work was refused, and how many workers have had it refused for good.
    refusals BIGINT NOT NULL,
    workers_tried BIGINT NOT NULL,
    -- The workers whose work was refused for good: others go first.
    not_by TEXT NOT NULL,
    -- How often the task was edited.
    edits BIGINT NOT NULL DEFAULT 0,
    -- Whether a person was ever asked about the task: then its open questions are closed when it ends.
    asked BIGINT NOT NULL DEFAULT 0,
    waits_for BIGINT NOT NULL,
    ready_at BIGINT,
    taken_at BIGINT,
    created_by TEXT NOT NULL REFERENCES users (id),
    -- The session whose agent added the task on behalf of the person.
    author_session TEXT,
    -- Whether an agent added the task with the person's own token, outside of every session.
    by_agent BIGINT NOT NULL DEFAULT 0,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL
);
CREATE INDEX tasks_by_project ON tasks (project, id);
CREATE UNIQUE INDEX tasks_by_number ON tasks (project, number);
CREATE INDEX tasks_by_session ON tasks (session) WHERE session IS NOT NULL;
CREATE INDEX tasks_by_activity ON tasks (activity) WHERE activity IS NOT NULL;

-- Ready tasks, in order. A table of its own: a change of status touches no index of `tasks`, so that PostgreSQL writes
-- the new version of the row beside the old one.
CREATE TABLE task_queue (
    project TEXT NOT NULL,
    queue_key BIGINT NOT NULL,
    task TEXT NOT NULL,
    PRIMARY KEY (project, queue_key, task)
);

-- Tables about tasks do not refer to them by constraint: rows of one transaction are written in any order, and a task is
-- deleted only with its project.
CREATE TABLE task_deps (
    task TEXT NOT NULL,
    dep TEXT NOT NULL,
    PRIMARY KEY (dep, task)
);

-- Hashes of the texts of open tasks: nearly equal texts are likely to share one.
CREATE TABLE task_gists (
    project TEXT NOT NULL,
    gist BIGINT NOT NULL,
    task TEXT NOT NULL,
    PRIMARY KEY (project, gist, task)
);

CREATE TABLE attempts (
    task TEXT NOT NULL,
    number BIGINT NOT NULL,
    project TEXT NOT NULL,
    fence BIGINT NOT NULL,
    worker TEXT NOT NULL,
    worker_name TEXT NOT NULL,
    agent TEXT NOT NULL,
    sessions TEXT NOT NULL,
    workspace TEXT,
    branch TEXT,
    started_at BIGINT NOT NULL,
    ended_at BIGINT,
    -- When the worker was last heard from before it was lost.
    last_sign_at BIGINT,
    outcome TEXT NOT NULL,
    reason TEXT,
    -- What the agent said last: the report of an agent that does not report itself.
    said TEXT,
    usage TEXT NOT NULL,
    PRIMARY KEY (task, number)
);
CREATE INDEX attempts_by_worker ON attempts (worker, started_at);
CREATE INDEX attempts_by_project ON attempts (project, started_at);
CREATE INDEX attempts_open ON attempts (project) WHERE ended_at IS NULL;

CREATE TABLE reports (
    id TEXT PRIMARY KEY,
    task TEXT NOT NULL,
    project TEXT NOT NULL,
    attempt BIGINT NOT NULL,
    fence BIGINT NOT NULL,
    worker TEXT NOT NULL,
    at BIGINT NOT NULL,
    summary TEXT NOT NULL,
    deliverables TEXT NOT NULL,
    context_score BIGINT,
    usage TEXT,
    collected BIGINT NOT NULL,
    -- Whether the agent said nothing: only what it changed shows whether it did anything.
    silent BIGINT NOT NULL DEFAULT 0,
    verdict TEXT NOT NULL,
    results TEXT NOT NULL,
    reason TEXT,
    changes TEXT,
    -- The commit that its work is described against.
    base TEXT,
    -- The commit with the work that its runner keeps.
    kept TEXT,
    -- Where the acceptance is being checked.
    runner TEXT,
    workspace TEXT
);
CREATE INDEX reports_by_task ON reports (task, at);
CREATE INDEX reports_to_check ON reports (runner) WHERE verdict = 'pending';
CREATE INDEX reports_with_scores ON reports (project, at) WHERE context_score IS NOT NULL;
CREATE INDEX reports_with_changes ON reports (project, at) WHERE changes IS NOT NULL;

CREATE TABLE escalations (
    id TEXT PRIMARY KEY,
    project TEXT NOT NULL REFERENCES projects (id),
    task TEXT NOT NULL,
    kind TEXT NOT NULL,
    worker TEXT,
    session TEXT,
    question TEXT NOT NULL,
    -- Why the task failed, if the question says so.
    cause TEXT,
    options TEXT NOT NULL,
    context TEXT NOT NULL,
    -- The owner of the other work in a conflict: they, and people who may see that work, see its patch.
    other_owner TEXT,
    created_at BIGINT NOT NULL,
    answered_by TEXT REFERENCES users (id),
    answered_at BIGINT,
    answer TEXT,
    act TEXT
);
CREATE INDEX escalations_by_task ON escalations (task);
CREATE INDEX escalations_open ON escalations (project) WHERE answered_at IS NULL;

CREATE TABLE workers (
    id TEXT PRIMARY KEY,
    project TEXT NOT NULL REFERENCES projects (id),
    owner TEXT NOT NULL REFERENCES users (id),
    name TEXT NOT NULL,
    kind TEXT NOT NULL,
    runner TEXT,
    agent TEXT NOT NULL,
    model TEXT,
    role TEXT,
    abilities TEXT NOT NULL,
    argv TEXT NOT NULL,
    sandbox TEXT,
    -- The agent profile that it follows, by name.
    profile TEXT,
    colour BIGINT NOT NULL,
    status TEXT NOT NULL,
    reason TEXT,
    until_at BIGINT,
    task TEXT,
    session TEXT,
    queue TEXT NOT NULL,
    failures BIGINT NOT NULL,
    done BIGINT NOT NULL,
    failed BIGINT NOT NULL,
    usage TEXT NOT NULL,
    budget_micros BIGINT,
    -- After what cost a session hands its task to a fresh one.
    handoff_after_micros BIGINT,
    scores BIGINT NOT NULL,
    score_sum BIGINT NOT NULL,
    -- Whether the scale made the worker, and may remove it again.
    scaled BIGINT NOT NULL,
    seen_at BIGINT,
    idle_since BIGINT,
    created_at BIGINT NOT NULL,
    removed_at BIGINT
);
CREATE INDEX workers_by_project ON workers (project) WHERE removed_at IS NULL;
CREATE INDEX workers_by_name ON workers (project, name) WHERE removed_at IS NULL;
CREATE INDEX workers_by_runner ON workers (runner) WHERE removed_at IS NULL;
CREATE INDEX workers_by_session ON workers (session) WHERE session IS NOT NULL;

CREATE TABLE work_settings (
    project TEXT PRIMARY KEY REFERENCES projects (id),
    settings TEXT NOT NULL,
    turn BIGINT NOT NULL
);

CREATE TABLE work_log (
    number BIGINT PRIMARY KEY,
    at BIGINT NOT NULL,
    project TEXT NOT NULL REFERENCES projects (id),
    worker TEXT,
    task TEXT,
    what TEXT NOT NULL,
    reason TEXT NOT NULL
);
CREATE INDEX work_log_by_project ON work_log (project, number);

-- Stop everything: of one person, in one project or (empty) everywhere.
CREATE TABLE freezes (
    user_id TEXT NOT NULL REFERENCES users (id),
    project TEXT NOT NULL,
    at BIGINT NOT NULL,
    PRIMARY KEY (user_id, project)
);
