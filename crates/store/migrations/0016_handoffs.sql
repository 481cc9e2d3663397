-- Handoffs: the way of one session's work to a fresh session.

CREATE TABLE handoffs (
    id TEXT PRIMARY KEY,
    project TEXT NOT NULL REFERENCES projects (id),
    activity TEXT NOT NULL,
    -- The session that hands off, and where it works.
    session TEXT NOT NULL,
    workspace TEXT NOT NULL,
    runner TEXT NOT NULL,
    owner TEXT NOT NULL REFERENCES users (id),
    task TEXT,
    title TEXT NOT NULL,
    -- The fresh session: where, whose, which agent.
    to_runner TEXT NOT NULL,
    to_owner TEXT NOT NULL REFERENCES users (id),
    agent TEXT NOT NULL,
    model TEXT,
    goal TEXT NOT NULL,
    -- The role whose template the document follows, if one was named.
    role TEXT,
    edit BIGINT NOT NULL,
    push BIGINT NOT NULL,
    wait_seconds BIGINT NOT NULL,
    status TEXT NOT NULL,
    step TEXT NOT NULL,
    detail TEXT,
    -- The steps that ended, and when the current one began.
    steps TEXT NOT NULL,
    since BIGINT NOT NULL,
    -- How often a runner tried the current step and could not do it.
    tries BIGINT NOT NULL DEFAULT 0,
    -- When the agent was asked for the prose.
    written_since BIGINT,
    body TEXT,
    written_by TEXT,
    -- The prose before a person edited it, and who wrote that.
    first_body TEXT,
    first_by TEXT,
    -- What the runner said when it kept everything.
    kept TEXT,
    document TEXT,
    hash TEXT,
    -- The branch of the kept commit at the repository, if it was pushed.
    branch TEXT,
    -- The packed work, once it is on the other runner.
    bundle TEXT,
    successor TEXT,
    -- Why it began by itself.
    by_itself TEXT,
    asked_by TEXT NOT NULL REFERENCES users (id),
    by_agent BIGINT NOT NULL,
    -- Whether a person takes the task of the session over; then the successor is known from the beginning.
    takes_over BIGINT NOT NULL DEFAULT 0,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL
);
-- How a project's handoffs are written and kept.
CREATE TABLE handoff_settings (
    project TEXT PRIMARY KEY REFERENCES projects (id),
    keep_files BIGINT NOT NULL,
    -- The sections of documents, by role.
    templates TEXT NOT NULL
);
CREATE INDEX handoffs_by_project ON handoffs (project, id);
CREATE INDEX handoffs_by_session ON handoffs (session, id);
CREATE INDEX handoffs_by_successor ON handoffs (successor) WHERE successor IS NOT NULL;
CREATE INDEX handoffs_open ON handoffs (id) WHERE status = 'running';
