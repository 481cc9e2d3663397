-- Whether a task began the activity: then it ends with the last of its tasks and sessions.
ALTER TABLE activities ADD COLUMN by_task BIGINT NOT NULL DEFAULT 0;
CREATE INDEX tasks_by_activity ON tasks (activity) WHERE activity IS NOT NULL;
