-- A study in one file. Times are nanoseconds unless their name says otherwise; columns named *_json hold one JSON value.

-- The one study of this file.
CREATE TABLE study (
    id              INTEGER PRIMARY KEY CHECK (id = 1),
    plan_toml       TEXT    NOT NULL,
    -- Every key and input derives from it, and it lies here in the clear: the keys of a study are insecure.
    insecure_seed   BLOB    NOT NULL CHECK (length(insecure_seed) = 32),
    host_json       TEXT    NOT NULL,
    program_version TEXT    NOT NULL,
    command         TEXT    NOT NULL,
    created_unix_ms INTEGER NOT NULL
) STRICT;

-- One start of the program on this study. A session without an end was killed.
CREATE TABLE session (
    number          INTEGER PRIMARY KEY,
    program_version TEXT    NOT NULL,
    machine_json    TEXT    NOT NULL,
    warnings_json   TEXT    NOT NULL,
    started_unix_ms INTEGER NOT NULL,
    ended_unix_ms   INTEGER,
    ending          TEXT CHECK (ending IN ('complete', 'stopped', 'failed'))
) STRICT;

-- The same job on several engines, measured in turn.
CREATE TABLE cell_group (
    id              INTEGER PRIMARY KEY,
    job_json        TEXT    NOT NULL UNIQUE,
    measure_json    TEXT    NOT NULL
) STRICT;

CREATE TABLE cell (
    id              INTEGER PRIMARY KEY,
    group_id        INTEGER NOT NULL REFERENCES cell_group (id),
    -- Place in the plan's list of engines.
    position        INTEGER NOT NULL,
    engine          TEXT    NOT NULL,
    job_json        TEXT    NOT NULL,
    state           TEXT    NOT NULL DEFAULT 'planned'
                    CHECK (state IN ('planned', 'running', 'done', 'failed', 'unsupported')),
    -- Why the cell failed or is not supported.
    reason          TEXT CHECK ((reason IS NOT NULL) = (state IN ('failed', 'unsupported'))),
    ledger_json     TEXT,
    engine_json     TEXT,
    readiness_json  TEXT,
    notes_json      TEXT    NOT NULL DEFAULT '[]',
    UNIQUE (group_id, position),
    UNIQUE (group_id, engine)
) STRICT;

-- What was measured in one turn. A block is stored whole or not at all.
CREATE TABLE block (
    id              INTEGER PRIMARY KEY,
    cell_id         INTEGER NOT NULL REFERENCES cell (id),
    group_id        INTEGER NOT NULL REFERENCES cell_group (id),
    -- The group's blocks in the order in which they were measured, over all sessions.
    order_index     INTEGER NOT NULL CHECK (order_index >= 0),
    -- Each of the group's engines has one block in a round: the pairs that ratios are made of.
    round           INTEGER NOT NULL CHECK (round >= 0),
    session         INTEGER NOT NULL REFERENCES session (number),
    worker_pid      INTEGER,
    -- On the monotonic clock of the machine: comparable within one session.
    started_ns      INTEGER NOT NULL,
    elapsed_ns      INTEGER NOT NULL CHECK (elapsed_ns >= 0),
    discarded_operations INTEGER NOT NULL CHECK (discarded_operations >= 0),
    trace_json      TEXT,
    -- CPU time of the worker during the block; since version 2.
    cpu_user_ns     INTEGER,
    cpu_system_ns   INTEGER,
    -- Time that was taken from the worker during the block, and by what; since version 4.
    losses_json     TEXT,
    -- Time of the discarded calls; since version 4.
    discarded_ns    INTEGER,
    UNIQUE (group_id, order_index),
    UNIQUE (cell_id, round)
) STRICT;

CREATE TABLE sample (
    block_id        INTEGER NOT NULL REFERENCES block (id),
    position        INTEGER NOT NULL,
    elapsed_ns      INTEGER NOT NULL CHECK (elapsed_ns >= 0),
    tsc_ticks       INTEGER,
    operations      INTEGER NOT NULL CHECK (operations > 0),
    primality_tests INTEGER,
    PRIMARY KEY (block_id, position)
) STRICT, WITHOUT ROWID;
