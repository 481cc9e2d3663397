-- A permission is for the sandbox that its text would have run in, or for a tighter one: JSON, absent without a sandbox.
ALTER TABLE approvals ADD COLUMN reach TEXT;
ALTER TABLE grants ADD COLUMN reach TEXT;

-- What the sandbox of an earlier request left open is not known: assume all of it.
UPDATE approvals SET reach = '{"network":true,"home":true}' WHERE sandbox = 1;

-- An earlier permission holds without a sandbox only if it was given for something that ran without one.
UPDATE grants SET reach = '{"network":false,"home":false}' WHERE NOT EXISTS (
    SELECT 1 FROM approvals a WHERE a.runner = grants.runner AND a.project = grants.project AND
    a.author = grants.author AND a.sandbox = 0 AND a.answer IN ('text', 'author') AND
    (grants.kind IS NULL OR (a.kind = grants.kind AND a.sha256 = grants.sha256))
);

-- Where somebody else asked for a session, as far as they said so: JSON.
ALTER TABLE sessions ADD COLUMN asked_for TEXT;

-- An agent may write for a person outside of every session: with the person's own token.
ALTER TABLE tasks ADD COLUMN by_agent BIGINT NOT NULL DEFAULT 0;
ALTER TABLE sessions ADD COLUMN asked_by_agent BIGINT NOT NULL DEFAULT 0;
ALTER TABLE approvals ADD COLUMN by_agent BIGINT NOT NULL DEFAULT 0;
