-- An attempt has a row of its own as soon as there is something to keep of it that its task does not say. Until then the
-- task's row says who holds it since when; and one whose report is accepted at once has no row but that report's.
ALTER TABLE tasks ADD COLUMN noted BIGINT NOT NULL DEFAULT 1;
ALTER TABLE reports ADD COLUMN worker_name TEXT;
ALTER TABLE reports ADD COLUMN agent TEXT;
ALTER TABLE reports ADD COLUMN began BIGINT;

-- All attempts. Whoever is sure to ask for one that has a row of its own asks the table.
CREATE VIEW all_attempts AS
SELECT task, number, project, fence, worker, worker_name, agent, sessions, workspace, branch, started_at, ended_at,
    last_sign_at, outcome, reason, said, usage
FROM attempts
UNION ALL
SELECT task, attempt, project, fence, worker, worker_name, agent, '[]', NULL, NULL, began, at,
    NULL, 'accepted', NULL, NULL, '{"input_tokens":0,"cached_tokens":0,"output_tokens":0,"cost_micros":null}'
FROM reports
WHERE began IS NOT NULL
UNION ALL
SELECT t.id, t.attempt, w.project, t.fence, w.id, w.name,
    CASE WHEN w.model IS NULL THEN w.agent ELSE w.agent || ' ' || w.model END, '[]', NULL, NULL, t.taken_at, NULL,
    NULL, 'open', NULL, NULL, '{"input_tokens":0,"cached_tokens":0,"output_tokens":0,"cost_micros":null}'
FROM workers w JOIN tasks t ON t.id = w.task AND t.worker = w.id AND t.noted = 0;

-- Reports of a project are looked through for attempts, for scores, and for what they changed.
DROP INDEX reports_by_project;
CREATE INDEX reports_as_attempts ON reports (project, began) WHERE began IS NOT NULL;
CREATE INDEX reports_with_scores ON reports (project, at) WHERE context_score IS NOT NULL;
CREATE INDEX reports_with_changes ON reports (project, at) WHERE changes IS NOT NULL;
