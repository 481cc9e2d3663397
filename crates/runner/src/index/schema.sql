-- The index of what terminals have shown. It is derived from recordings: another version rebuilds it.
CREATE TABLE sessions (
    number  INTEGER PRIMARY KEY,
    session TEXT NOT NULL UNIQUE,
    project TEXT NOT NULL,
    -- Where the next part of its recording begins, and whether all of it was read.
    next    INTEGER NOT NULL DEFAULT 0,
    done    INTEGER NOT NULL DEFAULT 0,
    -- The size of its lines.
    bytes   INTEGER NOT NULL DEFAULT 0
);

-- The number of a line is its time and a counter: the order of numbers is the order of age.
CREATE TABLE lines (
    number  INTEGER PRIMARY KEY,
    session INTEGER NOT NULL,
    at_ms   INTEGER NOT NULL,
    digest  INTEGER NOT NULL,
    line    TEXT NOT NULL,
    terms   TEXT NOT NULL
);
CREATE UNIQUE INDEX lines_by_session ON lines (session, digest);

-- The terms consist of letters, digits and marks: this tokenizer cuts them only at spaces.
CREATE VIRTUAL TABLE words USING fts5 (
    terms, content = 'lines', content_rowid = 'number', detail = none, prefix = '2 3 4',
    tokenize = "ascii tokenchars '@'"
);
-- Words of deleted lines leave the file at once.
INSERT INTO words (words, rank) VALUES ('secure-delete', 1);

CREATE TRIGGER line_added AFTER INSERT ON lines BEGIN
    INSERT INTO words (rowid, terms) VALUES (new.number, new.terms);
    UPDATE sessions SET bytes = bytes + octet_length(new.line) WHERE number = new.session;
END;
CREATE TRIGGER line_removed AFTER DELETE ON lines BEGIN
    INSERT INTO words (words, rowid, terms) VALUES ('delete', old.number, old.terms);
    UPDATE sessions SET bytes = bytes - octet_length(old.line) WHERE number = old.session;
END;

PRAGMA user_version = 1;
