-- The report that a workspace was made to check; until it was looked whether the workspace can go again.
ALTER TABLE workspaces ADD COLUMN checks TEXT;
CREATE INDEX workspaces_to_check ON workspaces (runner) WHERE checks IS NOT NULL;

-- The workspace on another runner whose work is on its way into this one; until it has arrived, or cannot.
ALTER TABLE workspaces ADD COLUMN moves_from TEXT;
CREATE INDEX workspaces_moving ON workspaces (moves_from) WHERE moves_from IS NOT NULL;
