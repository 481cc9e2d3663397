CREATE TABLE messages (
    id TEXT PRIMARY KEY,
    project TEXT NOT NULL REFERENCES projects (id),
    number BIGINT NOT NULL,
    author TEXT NOT NULL REFERENCES users (id),
    author_kind TEXT NOT NULL,
    -- The session whose agent wrote it on behalf of the author.
    author_session TEXT,
    content TEXT NOT NULL,
    refs TEXT NOT NULL,
    mentions TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    edited_at BIGINT,
    deleted_at BIGINT,
    UNIQUE (project, number)
);

-- The last message that each person has read.
CREATE TABLE reads (
    user_id TEXT NOT NULL REFERENCES users (id),
    project TEXT NOT NULL REFERENCES projects (id),
    number BIGINT NOT NULL,
    PRIMARY KEY (user_id, project)
);
