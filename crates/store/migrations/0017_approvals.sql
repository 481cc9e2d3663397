-- What others wrote runs on a runner only when its owner allowed it.

-- What a runner runs of other people's text without asking, and whether their work is kept in a sandbox.
ALTER TABLE runners ADD COLUMN policy TEXT NOT NULL DEFAULT 'ask';
ALTER TABLE runners ADD COLUMN sandbox_others BIGINT NOT NULL DEFAULT 0;
ALTER TABLE projects ADD COLUMN sandbox_others BIGINT NOT NULL DEFAULT 0;

-- Who wrote it: the session whose agent did, on behalf of the person.
ALTER TABLE tasks ADD COLUMN author_session TEXT;
ALTER TABLE sessions ADD COLUMN asked_by TEXT;
ALTER TABLE sessions ADD COLUMN asked_session TEXT;
-- Whose work a workspace was made from, when it is not its owner's.
ALTER TABLE workspaces ADD COLUMN code_by TEXT;

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
    why TEXT NOT NULL,
    sandbox BIGINT NOT NULL,
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

-- What a runner's owner allowed for good: one exact text, or everything of one author.
CREATE TABLE grants (
    id TEXT PRIMARY KEY,
    runner TEXT NOT NULL,
    project TEXT NOT NULL REFERENCES projects (id),
    kind TEXT,
    text TEXT,
    sha256 TEXT,
    author TEXT NOT NULL REFERENCES users (id),
    agents BIGINT NOT NULL,
    created_at BIGINT NOT NULL
);
CREATE INDEX grants_by_runner ON grants (runner, project);
