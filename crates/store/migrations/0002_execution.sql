-- What runs where. A runner may be removed while what it ran is remembered: those columns name it without referring to it.

ALTER TABLE runners ADD COLUMN about TEXT;
ALTER TABLE runners ADD COLUMN generation BIGINT NOT NULL DEFAULT 0;
ALTER TABLE runners ADD COLUMN journal TEXT;
ALTER TABLE runners ADD COLUMN facts BIGINT NOT NULL DEFAULT 0;
ALTER TABLE tokens ADD COLUMN session TEXT;
ALTER TABLE events ADD COLUMN execution_of TEXT;

CREATE TABLE workspaces (
    id TEXT PRIMARY KEY,
    project TEXT NOT NULL REFERENCES projects (id),
    activity TEXT NOT NULL REFERENCES activities (id),
    runner TEXT NOT NULL,
    owner TEXT NOT NULL REFERENCES users (id),
    repository TEXT,
    branch TEXT NOT NULL,
    base TEXT,
    path TEXT,
    status TEXT NOT NULL,
    detail TEXT,
    ports TEXT,
    stats TEXT,
    disk_bytes BIGINT,
    saved_at BIGINT,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL
);
CREATE INDEX workspaces_by_project ON workspaces (project);
CREATE INDEX workspaces_by_activity ON workspaces (activity);

CREATE TABLE sessions (
    id TEXT PRIMARY KEY,
    project TEXT NOT NULL REFERENCES projects (id),
    activity TEXT NOT NULL REFERENCES activities (id),
    workspace TEXT NOT NULL REFERENCES workspaces (id),
    runner TEXT NOT NULL,
    owner TEXT NOT NULL REFERENCES users (id),
    agent TEXT NOT NULL,
    mode TEXT NOT NULL,
    model TEXT,
    title TEXT NOT NULL,
    prompt TEXT NOT NULL,
    argv TEXT NOT NULL,
    sandbox TEXT,
    record_input BIGINT NOT NULL,
    cols BIGINT NOT NULL,
    rows_high BIGINT NOT NULL,
    status TEXT NOT NULL,
    detail TEXT,
    code BIGINT,
    signal BIGINT,
    since BIGINT NOT NULL,
    stop TEXT,
    usage TEXT NOT NULL,
    conversation TEXT,
    resumes TEXT,
    output_bytes BIGINT NOT NULL,
    disk_bytes BIGINT NOT NULL,
    duration_ms BIGINT NOT NULL,
    keep BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    ended_at BIGINT
);
CREATE INDEX sessions_by_project ON sessions (project);
CREATE INDEX sessions_by_activity ON sessions (activity);
CREATE INDEX sessions_by_workspace ON sessions (workspace);
CREATE INDEX sessions_live_by_runner ON sessions (runner) WHERE ended_at IS NULL;
