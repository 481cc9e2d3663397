-- Reports whose acceptance the hub wants checked: begun and not finished without a result, kept until it wants no more.
CREATE TABLE checks (
    report  TEXT PRIMARY KEY,
    desired TEXT NOT NULL,
    result  TEXT
);
