-- Whether anybody was ever asked about a task: then what is still asked is settled when it ends.
ALTER TABLE tasks ADD COLUMN asked BIGINT NOT NULL DEFAULT 0;
UPDATE tasks SET asked = 1 WHERE id IN (SELECT task FROM escalations);

-- What was asked about tasks that have ended needs nobody.
UPDATE escalations SET answered_at = created_at, answer = 'the task has ended', act = 'tell'
WHERE answered_at IS NULL AND task IN (SELECT id FROM tasks WHERE status IN ('done', 'failed', 'cancelled'));
