-- Whoever takes tasks itself is known by its name, and asks often.
CREATE INDEX workers_by_name ON workers (project, name) WHERE removed_at IS NULL;
