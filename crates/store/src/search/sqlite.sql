-- The search index on SQLite: FTS5 over the terms, kept by triggers.
DROP TABLE IF EXISTS search_terms;
DROP TABLE IF EXISTS search_entries;
DROP TABLE IF EXISTS search_index;

CREATE TABLE search_index (version BIGINT NOT NULL);

CREATE TABLE search_entries (
    number INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    kind TEXT NOT NULL,
    project TEXT NOT NULL,
    owner TEXT,
    open BIGINT NOT NULL,
    at BIGINT NOT NULL,
    digest BIGINT NOT NULL,
    title TEXT NOT NULL,
    name TEXT,
    body TEXT NOT NULL,
    terms TEXT NOT NULL
);
CREATE INDEX search_entries_by_project ON search_entries (project);

-- The terms consist of letters, digits and marks: this tokenizer cuts them only at spaces.
CREATE VIRTUAL TABLE search_terms USING fts5 (
    terms, content = 'search_entries', content_rowid = 'number', detail = none, prefix = '2 3 4 6 8',
    tokenize = "ascii tokenchars '^~=+@'"
);
-- Words of deleted texts leave the file's index at once.
INSERT INTO search_terms (search_terms, rank) VALUES ('secure-delete', 1);

CREATE TRIGGER search_added AFTER INSERT ON search_entries BEGIN
    INSERT INTO search_terms (rowid, terms) VALUES (new.number, new.terms);
END;
CREATE TRIGGER search_removed AFTER DELETE ON search_entries BEGIN
    INSERT INTO search_terms (search_terms, rowid, terms) VALUES ('delete', old.number, old.terms);
END;
CREATE TRIGGER search_changed AFTER UPDATE ON search_entries WHEN old.terms <> new.terms BEGIN
    INSERT INTO search_terms (search_terms, rowid, terms) VALUES ('delete', old.number, old.terms);
    INSERT INTO search_terms (rowid, terms) VALUES (new.number, new.terms);
END;
