-- One text for SQLite and PostgreSQL: ids and JSON as text, times as milliseconds, flags as 0 or 1.

CREATE TABLE ledger (
    one BIGINT PRIMARY KEY CHECK (one = 1),
    hub TEXT NOT NULL,
    seq BIGINT NOT NULL,
    horizon BIGINT NOT NULL,
    audit BIGINT NOT NULL,
    audit_hash TEXT NOT NULL
);

CREATE TABLE users (
    id TEXT PRIMARY KEY,
    name TEXT NOT NULL,
    name_key TEXT NOT NULL UNIQUE,
    hub_owner BIGINT NOT NULL,
    disabled BIGINT NOT NULL,
    github_id BIGINT UNIQUE,
    last_seen_at BIGINT,
    created_at BIGINT NOT NULL
);

CREATE TABLE projects (
    id TEXT PRIMARY KEY,
    owner TEXT NOT NULL REFERENCES users (id),
    visibility TEXT NOT NULL,
    share_execution BIGINT NOT NULL,
    archive_recordings BIGINT NOT NULL,
    retention_days BIGINT,
    content TEXT NOT NULL,
    version BIGINT NOT NULL,
    repositories TEXT NOT NULL,
    last_message BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL
);

CREATE TABLE activities (
    id TEXT PRIMARY KEY,
    project TEXT NOT NULL REFERENCES projects (id),
    owner TEXT NOT NULL REFERENCES users (id),
    status TEXT NOT NULL,
    content TEXT NOT NULL,
    version BIGINT NOT NULL,
    links TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL
);
CREATE INDEX activities_by_project ON activities (project);

CREATE TABLE versions (
    subject TEXT NOT NULL,
    version BIGINT NOT NULL,
    author TEXT NOT NULL REFERENCES users (id),
    at BIGINT NOT NULL,
    content TEXT NOT NULL,
    PRIMARY KEY (subject, version)
);

CREATE TABLE messages (
    id TEXT PRIMARY KEY,
    project TEXT NOT NULL REFERENCES projects (id),
    number BIGINT NOT NULL,
    author TEXT NOT NULL REFERENCES users (id),
    author_kind TEXT NOT NULL,
    content TEXT NOT NULL,
    refs TEXT NOT NULL,
    mentions TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    edited_at BIGINT,
    deleted_at BIGINT,
    UNIQUE (project, number)
);

CREATE TABLE reads (
    user_id TEXT NOT NULL REFERENCES users (id),
    project TEXT NOT NULL REFERENCES projects (id),
    number BIGINT NOT NULL,
    PRIMARY KEY (user_id, project)
);

CREATE TABLE runners (
    id TEXT PRIMARY KEY,
    owner TEXT NOT NULL REFERENCES users (id),
    name TEXT NOT NULL,
    last_seen_at BIGINT,
    created_at BIGINT NOT NULL,
    UNIQUE (owner, name)
);

CREATE TABLE tokens (
    id TEXT PRIMARY KEY,
    user_id TEXT NOT NULL REFERENCES users (id),
    kind TEXT NOT NULL,
    runner TEXT REFERENCES runners (id),
    name TEXT NOT NULL,
    hash TEXT NOT NULL UNIQUE,
    created_at BIGINT NOT NULL,
    expires_at BIGINT,
    last_used_at BIGINT
);
CREATE INDEX tokens_by_user ON tokens (user_id);

CREATE TABLE observers (
    id TEXT PRIMARY KEY,
    project TEXT NOT NULL REFERENCES projects (id),
    name TEXT NOT NULL,
    created_by TEXT NOT NULL REFERENCES users (id),
    hash TEXT NOT NULL UNIQUE,
    created_at BIGINT NOT NULL,
    expires_at BIGINT
);

CREATE TABLE logins (
    id TEXT PRIMARY KEY,
    user_id TEXT REFERENCES users (id),
    observer TEXT REFERENCES observers (id),
    hash TEXT NOT NULL UNIQUE,
    client TEXT NOT NULL,
    address TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    last_used_at BIGINT NOT NULL
);

CREATE TABLE login_links (
    hash TEXT PRIMARY KEY,
    user_id TEXT NOT NULL REFERENCES users (id),
    expires_at BIGINT NOT NULL
);

CREATE TABLE invites (
    id TEXT PRIMARY KEY,
    name TEXT NOT NULL,
    created_by TEXT NOT NULL REFERENCES users (id),
    created_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    hash TEXT NOT NULL UNIQUE,
    accepted_by TEXT REFERENCES users (id)
);

CREATE TABLE events (
    seq BIGINT PRIMARY KEY,
    at BIGINT NOT NULL,
    project TEXT,
    audience TEXT,
    facts_before TEXT,
    message TEXT,
    body TEXT NOT NULL
);
CREATE INDEX events_by_message ON events (message) WHERE message IS NOT NULL;

CREATE TABLE audit (
    number BIGINT PRIMARY KEY,
    at BIGINT NOT NULL,
    actor TEXT,
    actor_name TEXT,
    origin TEXT NOT NULL,
    verb TEXT NOT NULL,
    subject TEXT NOT NULL,
    project TEXT,
    private_to TEXT,
    detail TEXT NOT NULL,
    hash TEXT NOT NULL
);
CREATE INDEX audit_by_project ON audit (project, number);

CREATE TABLE requests (
    actor TEXT NOT NULL,
    request_key TEXT NOT NULL,
    fingerprint TEXT NOT NULL,
    answer TEXT NOT NULL,
    at BIGINT NOT NULL,
    PRIMARY KEY (actor, request_key)
);
CREATE INDEX requests_by_time ON requests (at);
