-- A runner runs the texts of other people only with the permission of its owner.

CREATE TABLE approvals (
    id TEXT PRIMARY KEY,
    runner TEXT NOT NULL,
    project TEXT NOT NULL REFERENCES projects (id),
    -- The session or report that waits.
    subject TEXT NOT NULL,
    kind TEXT NOT NULL,
    text TEXT NOT NULL,
    sha256 TEXT NOT NULL,
    author TEXT NOT NULL REFERENCES users (id),
    author_session TEXT,
    -- Whether an agent wrote it with the person's own token, outside of every session.
    by_agent BIGINT NOT NULL DEFAULT 0,
    why TEXT NOT NULL,
    sandbox BIGINT NOT NULL,
    -- What that sandbox leaves open: JSON, absent without a sandbox.
    reach TEXT,
    session TEXT,
    report TEXT,
    task TEXT,
    workspace TEXT,
    created_at BIGINT NOT NULL,
    answer TEXT,
    answered_at BIGINT,
    UNIQUE (subject, kind, sha256)
);
CREATE INDEX approvals_by_runner ON approvals (runner, created_at);
CREATE INDEX approvals_open ON approvals (runner) WHERE answer IS NULL;
CREATE INDEX approvals_by_task ON approvals (task) WHERE task IS NOT NULL;

-- Lasting permissions of a runner's owner: one exact text, or everything of one author.
CREATE TABLE grants (
    id TEXT PRIMARY KEY,
    runner TEXT NOT NULL,
    project TEXT NOT NULL REFERENCES projects (id),
    kind TEXT,
    text TEXT,
    sha256 TEXT,
    author TEXT NOT NULL REFERENCES users (id),
    agents BIGINT NOT NULL,
    -- The sandbox that the permission is for, or a tighter one: JSON, absent without a sandbox.
    reach TEXT,
    created_at BIGINT NOT NULL
);
CREATE INDEX grants_by_runner ON grants (runner, project);
