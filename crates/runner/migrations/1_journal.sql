-- One row: who this memory is, whose hub it belongs to, and how far it has counted.
CREATE TABLE runner (
    one        INTEGER PRIMARY KEY CHECK (one = 1),
    journal    TEXT NOT NULL,
    hub        TEXT,
    generation INTEGER NOT NULL,
    facts      INTEGER NOT NULL
);

-- What happened and is not acknowledged yet. A later fact of the same topic may take an unsent one's place.
CREATE TABLE facts (
    number INTEGER PRIMARY KEY,
    at     INTEGER NOT NULL,
    topic  TEXT NOT NULL,
    about  TEXT NOT NULL,
    body   TEXT NOT NULL
);
CREATE INDEX facts_about ON facts (about);

-- Every session that was ever accepted: what the hub wants of it, how far it got, and what is known of it.
CREATE TABLE sessions (
    session   TEXT PRIMARY KEY,
    workspace TEXT NOT NULL,
    step      TEXT NOT NULL,
    keep      INTEGER NOT NULL,
    desired   TEXT NOT NULL,
    memory    TEXT NOT NULL
);
CREATE INDEX sessions_workspace ON sessions (workspace);

CREATE TABLE workspaces (
    workspace TEXT PRIMARY KEY,
    body      TEXT NOT NULL
);

-- Executable configuration of strangers' repositories that the runner's owner has read and allowed.
CREATE TABLE approvals (
    hash TEXT PRIMARY KEY,
    at   INTEGER NOT NULL
);
