-- Artifacts, and their content: stored once for each hash.

-- Content, in chunks of equal size. Without a hash it is still on its way.
CREATE TABLE artifact_contents (
    id TEXT PRIMARY KEY,
    sha256 TEXT UNIQUE,
    size BIGINT NOT NULL,
    -- Who sends it, as far as it is not complete.
    sender TEXT NOT NULL,
    touched_at BIGINT NOT NULL
);

CREATE TABLE artifact_chunks (
    content TEXT NOT NULL,
    number BIGINT NOT NULL,
    -- Base64.
    data TEXT NOT NULL,
    PRIMARY KEY (content, number)
);

-- Who may name which content in which project: they have sent all of it.
CREATE TABLE artifact_uploads (
    project TEXT NOT NULL REFERENCES projects (id),
    sender TEXT NOT NULL,
    sha256 TEXT NOT NULL,
    size BIGINT NOT NULL,
    at BIGINT NOT NULL,
    PRIMARY KEY (project, sender, sha256)
);
CREATE INDEX artifact_uploads_by_hash ON artifact_uploads (sha256);

CREATE TABLE artifacts (
    id TEXT PRIMARY KEY,
    project TEXT NOT NULL REFERENCES projects (id),
    name TEXT NOT NULL,
    kind TEXT NOT NULL,
    media_type TEXT NOT NULL,
    sha256 TEXT NOT NULL,
    size BIGINT NOT NULL,
    execution TEXT,
    path TEXT,
    attempt BIGINT,
    session TEXT,
    owner TEXT NOT NULL REFERENCES users (id),
    by_agent BIGINT NOT NULL,
    -- The person whose execution it comes from: who may see that may see the artifact. Absent: everybody in the project.
    ran_for TEXT,
    created_at BIGINT NOT NULL
);
CREATE INDEX artifacts_by_project ON artifacts (project, id);
CREATE INDEX artifacts_by_execution ON artifacts (execution) WHERE execution IS NOT NULL;
CREATE INDEX artifacts_by_hash ON artifacts (sha256);

CREATE TABLE artifact_settings (
    project TEXT PRIMARY KEY REFERENCES projects (id),
    settings TEXT NOT NULL
);
