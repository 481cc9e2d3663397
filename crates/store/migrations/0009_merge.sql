-- Merge queues: branches, the runs that test and land them, and how a project merges.

CREATE TABLE merge_settings (
    project TEXT PRIMARY KEY REFERENCES projects (id),
    settings TEXT NOT NULL,
    -- Who wrote the checks.
    author TEXT NOT NULL REFERENCES users (id),
    author_session TEXT,
    by_agent BIGINT NOT NULL
);

CREATE TABLE merge_queues (
    project TEXT NOT NULL REFERENCES projects (id),
    target TEXT NOT NULL,
    gate TEXT NOT NULL,
    reason TEXT,
    -- Where the target branch was last seen.
    tip TEXT,
    landed BIGINT NOT NULL,
    failed BIGINT NOT NULL,
    runs BIGINT NOT NULL,
    flaky BIGINT NOT NULL,
    -- The checks that were red without a cause, with how often: JSON.
    flaky_checks TEXT NOT NULL,
    -- The mean duration of the checks.
    check_ms BIGINT,
    -- Faults of machines in a row, and when to try again.
    faults BIGINT NOT NULL,
    retry_at BIGINT NOT NULL,
    PRIMARY KEY (project, target)
);

CREATE TABLE merge_candidates (
    id TEXT PRIMARY KEY,
    project TEXT NOT NULL REFERENCES projects (id),
    target TEXT NOT NULL,
    branch TEXT NOT NULL,
    title TEXT NOT NULL,
    task TEXT,
    activity TEXT,
    priority BIGINT NOT NULL,
    deps TEXT NOT NULL,
    fix BIGINT NOT NULL,
    -- `waiting` until it has landed or left.
    state TEXT NOT NULL,
    reason TEXT,
    run TEXT,
    head TEXT,
    paths TEXT NOT NULL,
    -- Whether a person confirmed that it lands without checks.
    confirmed BIGINT NOT NULL,
    landed TEXT,
    runs BIGINT NOT NULL,
    cost_ms BIGINT NOT NULL,
    added_by TEXT NOT NULL REFERENCES users (id),
    author_session TEXT,
    by_agent BIGINT NOT NULL,
    added_at BIGINT NOT NULL,
    ended_at BIGINT
);
CREATE INDEX merge_candidates_live ON merge_candidates (project, target) WHERE ended_at IS NULL;
CREATE INDEX merge_candidates_ended ON merge_candidates (project, ended_at) WHERE ended_at IS NOT NULL;
CREATE INDEX merge_candidates_by_task ON merge_candidates (task) WHERE task IS NOT NULL;

CREATE TABLE merge_runs (
    id TEXT PRIMARY KEY,
    -- Counts the runs of a queue, in the order of their results; open runs have none.
    number BIGINT,
    project TEXT NOT NULL REFERENCES projects (id),
    target TEXT NOT NULL,
    purpose TEXT NOT NULL,
    state TEXT NOT NULL,
    runner TEXT NOT NULL,
    base TEXT,
    -- The branches with their heads, bottom first: JSON.
    stack TEXT NOT NULL,
    -- The checks as they were ordered: JSON.
    checks TEXT NOT NULL,
    -- The run whose commit is landed.
    tested TEXT,
    -- The commit that was tested or is landed.
    top TEXT,
    -- What the runner reported: JSON.
    result TEXT,
    detail TEXT,
    created_at BIGINT NOT NULL,
    began_at BIGINT,
    ended_at BIGINT
);
CREATE INDEX merge_runs_open ON merge_runs (runner) WHERE state = 'open';
CREATE INDEX merge_runs_by_queue ON merge_runs (project, target, number);

-- Which branches a run is about.
CREATE TABLE merge_members (
    candidate TEXT NOT NULL,
    run TEXT NOT NULL,
    PRIMARY KEY (candidate, run)
);
CREATE INDEX merge_members_by_run ON merge_members (run);
