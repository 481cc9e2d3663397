-- Counts transactions that wrote anything: as long as it has not moved, what a hub remembers is still true.
ALTER TABLE ledger ADD COLUMN writes BIGINT NOT NULL DEFAULT 0;
