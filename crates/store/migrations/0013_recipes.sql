-- Recipes, agent profiles, executions, schedules.

CREATE TABLE recipes (
    id TEXT PRIMARY KEY,
    project TEXT NOT NULL REFERENCES projects (id),
    name TEXT NOT NULL,
    disabled BIGINT NOT NULL,
    -- The newest version.
    number BIGINT NOT NULL,
    UNIQUE (project, name)
);

CREATE TABLE recipe_versions (
    recipe TEXT NOT NULL REFERENCES recipes (id),
    number BIGINT NOT NULL,
    -- The content hash of the model.
    version TEXT NOT NULL,
    text TEXT NOT NULL,
    format TEXT NOT NULL,
    model TEXT NOT NULL,
    author TEXT NOT NULL REFERENCES users (id),
    author_session TEXT,
    by_agent BIGINT NOT NULL,
    saved_at BIGINT NOT NULL,
    PRIMARY KEY (recipe, number)
);

CREATE TABLE agent_profiles (
    project TEXT NOT NULL REFERENCES projects (id),
    name TEXT NOT NULL,
    number BIGINT NOT NULL,
    content TEXT NOT NULL,
    author TEXT NOT NULL REFERENCES users (id),
    author_session TEXT,
    by_agent BIGINT NOT NULL,
    saved_at BIGINT NOT NULL,
    PRIMARY KEY (project, name, number)
);
-- The newest number of each name; none after it was removed.
CREATE TABLE agent_profile_names (
    project TEXT NOT NULL REFERENCES projects (id),
    name TEXT NOT NULL,
    number BIGINT NOT NULL,
    removed BIGINT NOT NULL,
    PRIMARY KEY (project, name)
);

CREATE TABLE executions (
    id TEXT PRIMARY KEY,
    project TEXT NOT NULL REFERENCES projects (id),
    recipe TEXT NOT NULL REFERENCES recipes (id),
    -- The version that it follows.
    number BIGINT NOT NULL,
    -- The version that it began with.
    first_number BIGINT NOT NULL,
    status TEXT NOT NULL,
    reason TEXT,
    -- The machine's state, and the inputs that it began with: JSON.
    state TEXT NOT NULL,
    first_inputs TEXT NOT NULL,
    -- What its clients see of its steps: JSON.
    current_steps TEXT NOT NULL,
    needs_person BIGINT NOT NULL,
    steps_over BIGINT NOT NULL,
    revision BIGINT NOT NULL,
    -- The number of its events.
    events BIGINT NOT NULL,
    activity TEXT,
    -- The workspace that its steps share.
    workspace TEXT,
    owner TEXT NOT NULL REFERENCES users (id),
    schedule TEXT,
    -- The execution that called it, with the step and the attempt; or that it rewinds, with neither.
    parent TEXT,
    parent_path TEXT,
    parent_attempt BIGINT,
    cost_micros BIGINT,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    ended_at BIGINT,
    -- Whether its history was deleted.
    compacted BIGINT NOT NULL DEFAULT 0
);
CREATE INDEX executions_with_history ON executions (ended_at) WHERE ended_at IS NOT NULL AND compacted = 0;
CREATE INDEX executions_by_project ON executions (project, id);
CREATE INDEX executions_by_recipe ON executions (recipe, id);
CREATE INDEX executions_by_parent ON executions (parent) WHERE parent IS NOT NULL;
CREATE INDEX executions_open_by_schedule ON executions (schedule) WHERE schedule IS NOT NULL AND ended_at IS NULL;

-- The history of an execution: the events that its state follows from.
CREATE TABLE execution_events (
    execution TEXT NOT NULL,
    number BIGINT NOT NULL,
    at BIGINT NOT NULL,
    -- The person who intervened.
    actor TEXT,
    event TEXT NOT NULL,
    PRIMARY KEY (execution, number)
);

-- The work of attempts. `waiting` until it has begun somewhere.
CREATE TABLE execution_work (
    execution TEXT NOT NULL,
    path TEXT NOT NULL,
    attempt BIGINT NOT NULL,
    project TEXT NOT NULL,
    kind TEXT NOT NULL,
    work TEXT NOT NULL,
    needs TEXT NOT NULL,
    at_most_once BIGINT NOT NULL,
    state TEXT NOT NULL,
    reason TEXT,
    -- What carries it out.
    session TEXT,
    workspace TEXT,
    branch TEXT,
    tasks TEXT NOT NULL,
    -- The worker that was started for it, and leaves when it is over.
    worker TEXT,
    called TEXT,
    landing TEXT,
    -- For an awaited event: its kind.
    awaits TEXT,
    -- The position in the event log after which it counts.
    awaits_after BIGINT,
    -- What its runner said about its end after it was lost: refused, but kept.
    late TEXT,
    -- What its agent or command said last.
    said TEXT,
    -- What its session may cost.
    budget_micros BIGINT,
    cost_micros BIGINT,
    created_at BIGINT NOT NULL,
    began_at BIGINT,
    ended_at BIGINT,
    PRIMARY KEY (execution, path, attempt)
);
CREATE INDEX execution_work_waiting ON execution_work (execution) WHERE state = 'waiting';
CREATE INDEX execution_work_by_session ON execution_work (session) WHERE session IS NOT NULL;
-- The same words as in the query: SQLite uses it for nothing else.
CREATE INDEX execution_work_running ON execution_work (execution) WHERE state = 'running';
CREATE INDEX execution_work_awaiting ON execution_work (project, awaits) WHERE awaits IS NOT NULL AND state = 'running';

-- Which tasks belong to which step.
CREATE TABLE execution_tasks (
    task TEXT PRIMARY KEY,
    execution TEXT NOT NULL,
    path TEXT NOT NULL,
    attempt BIGINT NOT NULL
);
CREATE INDEX execution_tasks_by_step ON execution_tasks (execution, path, attempt);

CREATE TABLE execution_timers (
    execution TEXT NOT NULL,
    -- Empty for the execution's own time limit.
    path TEXT NOT NULL,
    attempt BIGINT NOT NULL,
    timer TEXT NOT NULL,
    due_at BIGINT NOT NULL,
    PRIMARY KEY (execution, path, attempt, timer)
);
CREATE INDEX execution_timers_due ON execution_timers (due_at);

CREATE TABLE schedules (
    id TEXT PRIMARY KEY,
    project TEXT NOT NULL REFERENCES projects (id),
    name TEXT NOT NULL,
    recipe TEXT NOT NULL REFERENCES recipes (id),
    -- Trigger, overlap, catch-up, jitter, bounds: JSON.
    settings TEXT NOT NULL,
    inputs TEXT NOT NULL,
    owner TEXT NOT NULL REFERENCES users (id),
    paused BIGINT NOT NULL,
    note TEXT,
    failures BIGINT NOT NULL,
    -- Ticks planned up to this time are decided.
    decided_to BIGINT NOT NULL,
    -- When the next tick is due, with its jitter; absent: never, or on an event.
    due_at BIGINT,
    -- For a schedule on an event: its kind, and the position in the event log after which it counts.
    awaits TEXT,
    awaits_after BIGINT,
    created_at BIGINT NOT NULL,
    UNIQUE (project, name)
);
CREATE INDEX schedules_awaiting ON schedules (project, awaits) WHERE awaits IS NOT NULL;
CREATE INDEX schedules_due ON schedules (due_at) WHERE paused = 0 AND due_at IS NOT NULL;

CREATE TABLE schedule_ticks (
    schedule TEXT NOT NULL,
    planned_at BIGINT NOT NULL,
    -- Distinguishes ticks by hand, and of events, of the same time.
    number BIGINT NOT NULL,
    outcome TEXT NOT NULL,
    reason TEXT,
    execution TEXT,
    by_hand BIGINT NOT NULL,
    -- The payload of the event: JSON.
    payload TEXT,
    at BIGINT NOT NULL,
    PRIMARY KEY (schedule, planned_at, number)
);
CREATE INDEX schedule_ticks_queued ON schedule_ticks (schedule, planned_at) WHERE outcome = 'queued';
CREATE INDEX schedule_ticks_by_execution ON schedule_ticks (execution) WHERE execution IS NOT NULL;

-- The last event of the log that was handed to the schedules and steps that wait for it.
CREATE TABLE execution_cursor (
    one BIGINT PRIMARY KEY CHECK (one = 1),
    seq BIGINT NOT NULL
);

-- Where other services tell a project what happened. Secrets are encrypted with the hub's key.
CREATE TABLE hooks (
    id TEXT PRIMARY KEY,
    project TEXT NOT NULL REFERENCES projects (id),
    name TEXT NOT NULL,
    kind TEXT NOT NULL,
    sealed TEXT NOT NULL,
    -- The secret before the last rotation, and until when it is valid.
    old_sealed TEXT,
    old_until BIGINT,
    added_by TEXT NOT NULL REFERENCES users (id),
    received_at BIGINT,
    created_at BIGINT NOT NULL,
    UNIQUE (project, name)
);

-- What they received in the last days, each once.
CREATE TABLE hook_deliveries (
    hook TEXT NOT NULL,
    delivery TEXT NOT NULL,
    event TEXT,
    woke BIGINT NOT NULL,
    at BIGINT NOT NULL,
    PRIMARY KEY (hook, delivery)
);
CREATE INDEX hook_deliveries_by_time ON hook_deliveries (hook, at);

-- While a project waits for pushes: the commits that its branches were seen at.
CREATE TABLE branch_tips (
    project TEXT NOT NULL,
    repository TEXT NOT NULL,
    branch TEXT NOT NULL,
    commit_id TEXT NOT NULL,
    at BIGINT NOT NULL,
    PRIMARY KEY (project, repository, branch, commit_id)
);
-- Whose branches were seen at all: what is there at the first look was not pushed while somebody waited.
CREATE TABLE branch_looks (
    project TEXT NOT NULL,
    repository TEXT NOT NULL,
    -- The repository's own default branch.
    base TEXT,
    at BIGINT NOT NULL,
    PRIMARY KEY (project, repository)
);
