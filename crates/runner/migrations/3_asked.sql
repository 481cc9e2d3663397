-- Executable configuration that somebody was asked to allow: only such a hash can be allowed.
CREATE TABLE asked (
    hash TEXT PRIMARY KEY,
    at   INTEGER NOT NULL
);
