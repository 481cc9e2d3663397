-- Reviews of the changes of tasks and workspaces: comments on lines, and approvals of tasks' reports.

CREATE TABLE review_threads (
    id TEXT PRIMARY KEY,
    project TEXT NOT NULL REFERENCES projects (id),
    -- What is reviewed: either of the two.
    task TEXT,
    workspace TEXT,
    path TEXT NOT NULL,
    side TEXT NOT NULL,
    line BIGINT NOT NULL,
    end_line BIGINT NOT NULL,
    quote TEXT NOT NULL,
    -- The owner of the work that the lines are from: they, and people who may see that work, see the quote.
    work_of TEXT,
    status TEXT NOT NULL,
    sent_at BIGINT,
    resolved_by TEXT REFERENCES users (id),
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    CHECK ((task IS NULL) <> (workspace IS NULL))
);
CREATE INDEX review_threads_by_workspace ON review_threads (workspace, created_at);
CREATE INDEX review_threads_by_task ON review_threads (task, created_at);
CREATE INDEX review_threads_by_project ON review_threads (project);

CREATE TABLE review_comments (
    thread TEXT NOT NULL REFERENCES review_threads (id),
    number BIGINT NOT NULL,
    author TEXT NOT NULL REFERENCES users (id),
    author_kind TEXT NOT NULL,
    text TEXT NOT NULL,
    at BIGINT NOT NULL,
    PRIMARY KEY (thread, number)
);

CREATE TABLE review_approvals (
    report TEXT PRIMARY KEY,
    task TEXT NOT NULL,
    project TEXT NOT NULL REFERENCES projects (id),
    tree TEXT,
    approved_by TEXT NOT NULL REFERENCES users (id),
    approved_at BIGINT NOT NULL
);
CREATE INDEX review_approvals_by_task ON review_approvals (task);
