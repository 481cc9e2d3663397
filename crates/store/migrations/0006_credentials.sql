CREATE TABLE tokens (
    id TEXT PRIMARY KEY,
    user_id TEXT NOT NULL REFERENCES users (id),
    kind TEXT NOT NULL,
    runner TEXT REFERENCES runners (id),
    session TEXT,
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
    expires_at BIGINT NOT NULL,
    used_at BIGINT
);
