-- A fixed piece of work, timed before each group in each session: a machine that has become slower shows. Since version 4.
CREATE TABLE sentinel (
    id              INTEGER PRIMARY KEY,
    session         INTEGER NOT NULL REFERENCES session (number),
    group_id        INTEGER NOT NULL REFERENCES cell_group (id),
    taken_unix_ms   INTEGER NOT NULL,
    elapsed_ns      REAL    NOT NULL CHECK (elapsed_ns > 0)
) STRICT;
