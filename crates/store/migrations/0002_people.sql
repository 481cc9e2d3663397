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

CREATE TABLE invites (
    id TEXT PRIMARY KEY,
    name TEXT NOT NULL,
    created_by TEXT NOT NULL REFERENCES users (id),
    created_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    hash TEXT NOT NULL UNIQUE,
    accepted_by TEXT REFERENCES users (id)
);
