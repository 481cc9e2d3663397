CREATE TABLE projects (
    id TEXT PRIMARY KEY,
    owner TEXT NOT NULL REFERENCES users (id),
    visibility TEXT NOT NULL,
    share_execution BIGINT NOT NULL,
    archive_recordings BIGINT NOT NULL,
    -- Whether the work of other people runs in a sandbox.
    sandbox_others BIGINT NOT NULL DEFAULT 0,
    retention_days BIGINT,
    content TEXT NOT NULL,
    -- The name in the form in which names are compared.
    name_key TEXT NOT NULL,
    version BIGINT NOT NULL,
    repositories TEXT NOT NULL,
    last_message BIGINT NOT NULL,
    -- The key and the last number of the short names of tasks, such as `CALC-12`.
    task_key TEXT NOT NULL,
    last_task BIGINT NOT NULL DEFAULT 0,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL
);
-- Not unique: a member who renames a project does not learn the names of the owner's hidden projects.
CREATE INDEX projects_by_name ON projects (owner, name_key);

CREATE TABLE activities (
    id TEXT PRIMARY KEY,
    project TEXT NOT NULL REFERENCES projects (id),
    owner TEXT NOT NULL REFERENCES users (id),
    status TEXT NOT NULL,
    content TEXT NOT NULL,
    version BIGINT NOT NULL,
    links TEXT NOT NULL,
    -- Whether a task created the activity: then it ends with the last of its tasks and sessions.
    by_task BIGINT NOT NULL DEFAULT 0,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL
);
CREATE INDEX activities_by_project ON activities (project);

-- Versions of the texts of projects and activities.
CREATE TABLE versions (
    subject TEXT NOT NULL,
    version BIGINT NOT NULL,
    author TEXT NOT NULL REFERENCES users (id),
    author_kind TEXT NOT NULL DEFAULT 'user',
    author_session TEXT,
    at BIGINT NOT NULL,
    content TEXT NOT NULL,
    PRIMARY KEY (subject, version)
);
