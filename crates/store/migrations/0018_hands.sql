-- What an agent does is kept as the agent's, on behalf of its person: which session's agent wrote it.
ALTER TABLE audit ADD COLUMN via TEXT;
ALTER TABLE messages ADD COLUMN author_session TEXT;
ALTER TABLE versions ADD COLUMN author_kind TEXT NOT NULL DEFAULT 'user';
ALTER TABLE versions ADD COLUMN author_session TEXT;

-- Whose work the other one of two outputs is: they, and those who may look into it, see its patch.
ALTER TABLE escalations ADD COLUMN other_owner TEXT;
