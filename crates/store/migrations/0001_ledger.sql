-- One text for SQLite and PostgreSQL: ids and JSON as text, times as milliseconds, flags as 0 or 1.

CREATE TABLE ledger (
    one BIGINT PRIMARY KEY CHECK (one = 1),
    hub TEXT NOT NULL,
    seq BIGINT NOT NULL,
    horizon BIGINT NOT NULL,
    audit BIGINT NOT NULL,
    audit_hash TEXT NOT NULL,
    -- Counts the transactions that wrote anything: while it stands still, what a hub remembers is true.
    writes BIGINT NOT NULL DEFAULT 0
);

CREATE TABLE events (
    seq BIGINT PRIMARY KEY,
    at BIGINT NOT NULL,
    project TEXT,
    audience TEXT,
    facts_before TEXT,
    execution_of TEXT,
    message TEXT,
    body TEXT NOT NULL
);
CREATE INDEX events_by_message ON events (message) WHERE message IS NOT NULL;

CREATE TABLE audit (
    number BIGINT PRIMARY KEY,
    at BIGINT NOT NULL,
    actor TEXT,
    actor_name TEXT,
    -- The session or runner that acted for the actor.
    via TEXT,
    origin TEXT NOT NULL,
    verb TEXT NOT NULL,
    subject TEXT NOT NULL,
    project TEXT,
    private_to TEXT,
    detail TEXT NOT NULL,
    hash TEXT NOT NULL
);
CREATE INDEX audit_by_project ON audit (project, number);

-- Answers by idempotency key.
CREATE TABLE requests (
    actor TEXT NOT NULL,
    request_key TEXT NOT NULL,
    fingerprint TEXT NOT NULL,
    answer TEXT NOT NULL,
    at BIGINT NOT NULL,
    PRIMARY KEY (actor, request_key)
);
CREATE INDEX requests_by_time ON requests (at);
