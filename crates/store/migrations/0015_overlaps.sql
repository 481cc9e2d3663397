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
    -- The workspaces, in the order of their ids. A conflict with the base branch has no other one, but the branch.
    one TEXT NOT NULL REFERENCES workspaces (id),
    other TEXT REFERENCES workspaces (id),
    base TEXT,
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
