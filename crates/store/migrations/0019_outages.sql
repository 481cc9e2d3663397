-- What holds a session up that is no fault of its task, until its model answers again.
ALTER TABLE sessions ADD COLUMN held_up TEXT;

-- Agents that cannot work on a runner, whatever their tasks are: their workers pause, and one of them tries again.
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
