-- Work on its way to the repository, and what happens to accepted work of a project.

CREATE TABLE landings (
    id TEXT PRIMARY KEY,
    project TEXT NOT NULL REFERENCES projects (id),
    task TEXT,
    report TEXT,
    activity TEXT,
    workspace TEXT,
    -- The runner that has the work.
    runner TEXT NOT NULL,
    -- The owner of the work, whose machine publishes it.
    owner TEXT NOT NULL REFERENCES users (id),
    title TEXT NOT NULL,
    location TEXT NOT NULL,
    branch TEXT NOT NULL,
    target TEXT,
    push_only BIGINT NOT NULL,
    wants_pull_request BIGINT NOT NULL DEFAULT 0,
    state TEXT NOT NULL,
    detail TEXT,
    -- The accepted commit; absent for a workspace, whose commits are published as they are.
    kept TEXT,
    published TEXT,
    landed TEXT,
    candidate TEXT,
    pull_request TEXT,
    asked_by TEXT REFERENCES users (id),
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL
);
CREATE INDEX landings_by_project ON landings (project, id);
CREATE INDEX landings_by_task ON landings (task) WHERE task IS NOT NULL;
CREATE INDEX landings_by_report ON landings (report) WHERE report IS NOT NULL;
CREATE INDEX landings_by_candidate ON landings (candidate) WHERE candidate IS NOT NULL;
CREATE INDEX landings_publishing ON landings (id) WHERE state = 'publishing';

CREATE TABLE landing_settings (
    project TEXT PRIMARY KEY REFERENCES projects (id),
    settings TEXT NOT NULL
);
