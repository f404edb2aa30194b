-- Blocks during which something outside kept the worker from running, or took a part of its time. They are kept, and are
-- part of no figure: their turns were measured anew. Since version 3.
CREATE TABLE interrupted_block (
    id              INTEGER PRIMARY KEY,
    cell_id         INTEGER NOT NULL REFERENCES cell (id),
    group_id        INTEGER NOT NULL REFERENCES cell_group (id),
    -- The turn, as in the table of blocks; each attempt at it has a row here.
    order_index     INTEGER NOT NULL CHECK (order_index >= 0),
    round           INTEGER NOT NULL CHECK (round >= 0),
    session         INTEGER NOT NULL REFERENCES session (number),
    worker_pid      INTEGER,
    -- What was seen, in words.
    reason          TEXT    NOT NULL,
    -- All that the worker reported.
    report_json     TEXT    NOT NULL,
    -- As in the table of blocks; since version 4.
    losses_json     TEXT
) STRICT;
