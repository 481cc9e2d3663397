-- Overlaps: what the work in workspaces changes, without any code, and where it meets.

CREATE TABLE workspace_work (
    workspace TEXT PRIMARY KEY REFERENCES workspaces (id),
    project TEXT NOT NULL REFERENCES projects (id),
    -- The commit where its branch left the base.
    fork TEXT NOT NULL,
    -- The runner's descriptions: JSON.
    work TEXT NOT NULL,
    updated_at BIGINT NOT NULL
);
CREATE INDEX workspace_work_by_project ON workspace_work (project, fork);

-- The files and folders that work touches. Works without a common name do not meet.
CREATE TABLE work_names (
    workspace TEXT NOT NULL REFERENCES workspaces (id),
    project TEXT NOT NULL,
    name TEXT NOT NULL,
    PRIMARY KEY (workspace, name)
);
CREATE INDEX work_names_by_name ON work_names (project, name);

CREATE TABLE work_overlaps (
    id TEXT PRIMARY KEY,
    project TEXT NOT NULL REFERENCES projects (id),
    -- What meets: workspaces, reservations or tasks, in the order of their ids. A conflict with the base branch has no
    -- other one, but the branch.
    one TEXT NOT NULL,
    other TEXT,
    base TEXT,
    one_activity TEXT NOT NULL REFERENCES activities (id),
    other_activity TEXT REFERENCES activities (id),
    one_owner TEXT NOT NULL REFERENCES users (id),
    other_owner TEXT REFERENCES users (id),
    kind TEXT NOT NULL,
    -- JSON.
    places TEXT NOT NULL,
    more BIGINT NOT NULL,
    since BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    ended_at BIGINT,
    -- When people were told of the conflict, and since when there has been none.
    told_at BIGINT,
    gone_since BIGINT,
    UNIQUE (one, other)
);
CREATE UNIQUE INDEX work_overlaps_with_base ON work_overlaps (one) WHERE other IS NULL;
CREATE INDEX work_overlaps_by_other ON work_overlaps (other);
CREATE INDEX work_overlaps_by_project ON work_overlaps (project, ended_at);

-- Files that activities say they will change.
CREATE TABLE reservations (
    id TEXT PRIMARY KEY,
    project TEXT NOT NULL REFERENCES projects (id),
    activity TEXT NOT NULL REFERENCES activities (id),
    by_user TEXT NOT NULL REFERENCES users (id),
    by_agent BIGINT NOT NULL,
    -- JSON.
    patterns TEXT NOT NULL,
    reason TEXT,
    since BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    ended_at BIGINT
);
CREATE INDEX reservations_by_project ON reservations (project, ended_at);
CREATE INDEX reservations_by_end ON reservations (ended_at, expires_at);
