-- Tasks that are ready, in order. A table of its own: what becomes of a task changes no index of `tasks`, so that
-- PostgreSQL writes the new version of its row beside the old one.

-- What is held is its worker's task. First, because it keeps others from writing tasks until this is done.
DROP INDEX tasks_held;
DROP INDEX tasks_ready;
CREATE TABLE task_queue (
    project TEXT NOT NULL,
    queue_key BIGINT NOT NULL,
    task TEXT NOT NULL,
    PRIMARY KEY (project, queue_key, task)
);
INSERT INTO task_queue (project, queue_key, task) SELECT project, queue_key, id FROM tasks WHERE status = 'ready';
