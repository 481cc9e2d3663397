-- Runners, workspaces and sessions. A runner may be removed while its sessions are remembered: their columns name it
-- without referring to it.

CREATE TABLE runners (
    id TEXT PRIMARY KEY,
    owner TEXT NOT NULL REFERENCES users (id),
    name TEXT NOT NULL,
    about TEXT,
    generation BIGINT NOT NULL DEFAULT 0,
    journal TEXT,
    facts BIGINT NOT NULL DEFAULT 0,
    -- The link that the runner has to some hub: other hubs must know that it is connected.
    link TEXT,
    -- Which texts of other people the runner runs without asking, and whether their work runs in a sandbox.
    policy TEXT NOT NULL DEFAULT 'ask',
    sandbox_others BIGINT NOT NULL DEFAULT 0,
    -- Why the runner cannot record facts, while it cannot.
    trouble TEXT,
    last_seen_at BIGINT,
    created_at BIGINT NOT NULL,
    UNIQUE (owner, name)
);

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
    -- The work that a new workspace starts from.
    start_from TEXT,
    -- The report that the workspace was made to check; until the hub has decided whether the workspace can go.
    checks TEXT,
    -- The workspace on another runner whose work is being moved into this one.
    moves_from TEXT,
    -- Whether accepted works that the workspace starts from are being brought from other runners.
    awaits_works BIGINT NOT NULL DEFAULT 0,
    -- The author of the code that the workspace was made from, unless it is the owner.
    code_by TEXT,
    saved_at BIGINT,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL
);
CREATE INDEX workspaces_by_project ON workspaces (project);
CREATE INDEX workspaces_by_activity ON workspaces (activity);
CREATE INDEX workspaces_to_check ON workspaces (runner) WHERE checks IS NOT NULL;
CREATE INDEX workspaces_moving ON workspaces (moves_from) WHERE moves_from IS NOT NULL;
CREATE INDEX workspaces_awaiting ON workspaces (id) WHERE awaits_works = 1;

CREATE TABLE sessions (
    id TEXT PRIMARY KEY,
    project TEXT NOT NULL REFERENCES projects (id),
    activity TEXT NOT NULL REFERENCES activities (id),
    workspace TEXT NOT NULL REFERENCES workspaces (id),
    runner TEXT NOT NULL,
    owner TEXT NOT NULL REFERENCES users (id),
    -- The task that the session works on, and the fence of its lease.
    task TEXT,
    fence BIGINT,
    -- The step of an execution that the session works on: JSON.
    step TEXT,
    -- Whether its agent asks before it changes anything.
    asks BIGINT NOT NULL DEFAULT 0,
    -- The person, and the session of their agent, that wrote the prompt.
    asked_by TEXT,
    asked_session TEXT,
    -- Whether an agent asked with the person's own token, outside of every session.
    asked_by_agent BIGINT NOT NULL DEFAULT 0,
    -- Where somebody else asked for the session, as far as they said so: JSON.
    asked_for TEXT,
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
    -- The outage that holds the session up, until its model answers again.
    held_up TEXT,
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
    -- Who may type besides the owner, and who asked to: JSON.
    keyboard TEXT,
    created_at BIGINT NOT NULL,
    ended_at BIGINT
);
CREATE INDEX sessions_by_project ON sessions (project);
CREATE INDEX sessions_by_activity ON sessions (activity);
CREATE INDEX sessions_by_workspace ON sessions (workspace);
CREATE INDEX sessions_by_task ON sessions (task) WHERE task IS NOT NULL;
CREATE INDEX sessions_live_by_runner ON sessions (runner) WHERE ended_at IS NULL;
-- Which runners have recordings of whose sessions in which projects.
CREATE INDEX sessions_recorded ON sessions (runner, project, owner) WHERE ended_at IS NULL OR disk_bytes > 0;

-- Questions to the agents of sessions that have ended, with the answers.
CREATE TABLE session_questions (
    id TEXT PRIMARY KEY,
    project TEXT NOT NULL REFERENCES projects (id),
    session TEXT NOT NULL,
    asked_by TEXT NOT NULL REFERENCES users (id),
    question TEXT NOT NULL,
    status TEXT NOT NULL,
    answer TEXT,
    -- Why there is no answer.
    detail TEXT,
    asked_at BIGINT NOT NULL,
    answered_at BIGINT
);
CREATE INDEX session_questions_by_session ON session_questions (session, id);
CREATE INDEX session_questions_by_project ON session_questions (project);
CREATE INDEX session_questions_open ON session_questions (id) WHERE status = 'asked';

-- Agents that cannot work on a runner, whatever their tasks are: their workers pause, and one of them retries.
CREATE TABLE outages (
    runner TEXT NOT NULL REFERENCES runners (id) ON DELETE CASCADE,
    agent TEXT NOT NULL,
    cause TEXT NOT NULL,
    failures BIGINT NOT NULL,
    since BIGINT NOT NULL,
    probe_at BIGINT NOT NULL,
    probe TEXT,
    escalation TEXT,
    PRIMARY KEY (runner, agent)
);
