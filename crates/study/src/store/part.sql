-- The part that this study is of a plan that is spread over machines: it measures every of-th group. Empty in a whole
-- study. Since version 5.
CREATE TABLE part (
    id              INTEGER PRIMARY KEY CHECK (id = 1),
    number          INTEGER NOT NULL CHECK (number >= 1 AND number <= of),
    of              INTEGER NOT NULL CHECK (of >= 1)
) STRICT;
