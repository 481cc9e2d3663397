-- Merge runs that the hub wants: begun and not finished without a result, kept until it wants no more.
CREATE TABLE merges (
    run     TEXT PRIMARY KEY,
    desired TEXT NOT NULL,
    result  TEXT
);
