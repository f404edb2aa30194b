//! Everything that is ever asked of a store.

use std::collections::BTreeMap;

use rsalab_engines::{BlockReport, PartTrace};
use rsalab_measure::{Block, CpuTime, Sample};
use rusqlite::{CachedStatement, OptionalExtension, Row, params, types::Type};
use serde::de::DeserializeOwned;

use super::{
    Beginning, BlockRecord, CellId, CellRecord, CellState, Ending, GroupId, GroupRecord, InterruptedBlock,
    SentinelRecord, SessionNumber, SessionRecord, Store, StoreError, StudyRecord, TakenBlock,
};
use crate::{
    part::Part,
    plan::{Measure, Seed},
};

impl Store {
    /// The study as it was planned.
    pub fn study(&self) -> Result<StudyRecord, StoreError> {
        let sql = "SELECT plan_toml, insecure_seed, host_json, program_version, command, created_unix_ms FROM study";
        let row = |row: &Row<'_>| {
            Ok(StudyRecord {
                plan_toml: row.get(0)?,
                seed: Seed(row.get(1)?),
                host: json(row, 2)?,
                program_version: row.get(3)?,
                command: row.get(4)?,
                created_unix_ms: row.get(5)?,
            })
        };
        self.connection.query_row(sql, [], row).map_err(self.content("study"))
    }

    /// The part of its plan that this study measures; none if it measures all of it.
    pub fn part(&self) -> Result<Option<Part>, StoreError> {
        if self.schema_version < 5 {
            return Ok(None);
        }
        let row = |row: &Row<'_>| {
            let text = format!("{}/{}", row.get::<_, u64>(0)?, row.get::<_, u64>(1)?);
            // A file from elsewhere may lack the table's checks.
            text.parse::<Part>().map_err(|error| unreadable(0, error))
        };
        let found = self.connection.query_row("SELECT number, of FROM part", [], row);
        found.optional().map_err(self.content("part"))
    }

    /// Every start of the program on this study.
    pub fn sessions(&self) -> Result<Vec<SessionRecord>, StoreError> {
        let sql = "SELECT number, program_version, machine_json, warnings_json, started_unix_ms, ended_unix_ms, ending
                   FROM session ORDER BY number";
        let row = |row: &Row<'_>| {
            let ending: Option<String> = row.get(6)?;
            Ok(SessionRecord {
                number: SessionNumber(row.get(0)?),
                program_version: row.get(1)?,
                machine: json(row, 2)?,
                warnings: json(row, 3)?,
                started_unix_ms: row.get(4)?,
                ended_unix_ms: row.get(5)?,
                ending: ending.and_then(|word| Ending::ALL.into_iter().find(|ending| ending.name() == word)),
            })
        };
        self.all(sql, row).map_err(self.content("session"))
    }

    /// Every group with its cells, in the order of the plan.
    pub fn groups(&self) -> Result<Vec<GroupRecord>, StoreError> {
        let row = |row: &Row<'_>| {
            let measure: Measure = json(row, 2)?;
            measure.check().map_err(|error| unreadable(2, error))?;
            Ok(GroupRecord {
                id: GroupId(row.get(0)?),
                job: json(row, 1)?,
                measure,
                cells: Vec::new(),
            })
        };
        let sql = "SELECT id, job_json, measure_json FROM cell_group ORDER BY id";
        let mut groups = self.all(sql, row).map_err(self.content("group"))?;

        let sql = "SELECT id, engine, job_json, state, reason, ledger_json, engine_json, readiness_json, notes_json,
                          group_id
                   FROM cell ORDER BY group_id, position";
        let cells = self
            .all(sql, |row| Ok((row.get(9)?, cell(row)?)))
            .map_err(self.content("cell"))?;
        let mut of_group: BTreeMap<i64, Vec<CellRecord>> = BTreeMap::new();
        for (group, cell) in cells {
            of_group.entry(group).or_default().push(cell);
        }
        for group in &mut groups {
            group.cells = of_group.remove(&group.id.0).unwrap_or_default();
        }
        Ok(groups)
    }

    /// The blocks of a group in the order in which they were measured.
    pub fn blocks(&self, group: GroupId) -> Result<Vec<BlockRecord>, StoreError> {
        let mut blocks = Vec::new();
        self.each_block(group, |block| {
            blocks.push(block);
            Ok::<(), StoreError>(())
        })?;
        Ok(blocks)
    }

    /// Calls `act` with each block of a group, in the order in which they were measured. Only one is in memory at a
    /// time.
    ///
    /// # Errors
    /// The database cannot be read, or `act` fails, which ends it.
    pub fn each_block<E: From<StoreError>>(
        &self,
        group: GroupId,
        mut act: impl FnMut(BlockRecord) -> Result<(), E>,
    ) -> Result<(), E> {
        let content = self.content("block");
        let (mut blocks, mut samples) = self.block_queries().map_err(&content)?;
        let mut rows = blocks.query(params![group.0]).map_err(&content)?;
        while let Some(row) = rows.next().map_err(&content)? {
            act(block(row, &mut samples).map_err(&content)?)?;
        }
        Ok(())
    }

    /// The rounds that the cells of a group have blocks of, or have begun.
    ///
    /// # Errors
    /// The database cannot be read.
    pub fn rounds_begun(&self, group: GroupId) -> Result<usize, StoreError> {
        let query = "SELECT MAX(round) FROM block WHERE group_id = ?1";
        let last = self.connection.query_row(query, [group.0], |row| row.get(0));
        let last: Option<i64> = last.map_err(self.content("block"))?;
        Ok(last.map_or(0, |last| usize::try_from(last).unwrap_or(0) + 1))
    }

    /// The queries for the blocks of a group, and for the samples of a block.
    fn block_queries(&self) -> rusqlite::Result<(CachedStatement<'_>, CachedStatement<'_>)> {
        // A study of an earlier version that is only read has no such columns.
        let cpu = match self.schema_version {
            1 => "NULL, NULL",
            _ => "cpu_user_ns, cpu_system_ns",
        };
        let losses = self.losses_column();
        let discarded = match self.schema_version {
            ..4 => "NULL",
            _ => "discarded_ns",
        };
        let blocks = self.connection.prepare_cached(&format!(
            "SELECT id, cell_id, order_index, round, session, worker_pid, started_ns, elapsed_ns,
                    discarded_operations, trace_json, {cpu}, {losses}, {discarded}
             FROM block WHERE group_id = ?1 ORDER BY order_index"
        ))?;
        let samples = self.connection.prepare_cached(
            "SELECT elapsed_ns, tsc_ticks, operations, primality_tests FROM sample WHERE block_id = ?1 ORDER BY position",
        )?;
        Ok((blocks, samples))
    }

    fn losses_column(&self) -> &'static str {
        match self.schema_version {
            ..4 => "NULL",
            _ => "losses_json",
        }
    }

    /// The blocks of a group that were interrupted, in the order in which they were measured. A study of an earlier
    /// schema has none that are marked.
    pub fn interrupted_blocks(&self, group: GroupId) -> Result<Vec<InterruptedBlock>, StoreError> {
        if self.schema_version < 3 {
            return Ok(Vec::new());
        }
        let losses = self.losses_column();
        let sql = format!(
            "SELECT cell_id, session, order_index, round, worker_pid, report_json, reason, {losses}
             FROM interrupted_block WHERE group_id = ?1 ORDER BY id"
        );
        let read = || -> rusqlite::Result<Vec<InterruptedBlock>> {
            let mut rows = self.connection.prepare_cached(&sql)?;
            let row = |row: &Row<'_>| {
                Ok(InterruptedBlock {
                    record: BlockRecord {
                        cell: CellId(row.get(0)?),
                        session: SessionNumber(row.get(1)?),
                        taken: TakenBlock {
                            order_index: row.get(2)?,
                            round: row.get(3)?,
                            worker_pid: row.get(4)?,
                            report: json(row, 5)?,
                            losses: optional_json(row, 7)?,
                        },
                    },
                    reason: row.get(6)?,
                })
            };
            rows.query_map(params![group.0], row)?.collect()
        };
        read().map_err(self.content("interrupted block"))
    }

    /// The times that the sentinel's work took, in the order in which they were taken. A study of an earlier schema has
    /// none.
    pub fn sentinels(&self) -> Result<Vec<SentinelRecord>, StoreError> {
        if self.schema_version < 4 {
            return Ok(Vec::new());
        }
        let sql = "SELECT session, group_id, taken_unix_ms, elapsed_ns FROM sentinel ORDER BY id";
        let row = |row: &Row<'_>| {
            Ok(SentinelRecord {
                session: SessionNumber(row.get(0)?),
                group: GroupId(row.get(1)?),
                taken_unix_ms: row.get(2)?,
                elapsed_ns: row.get(3)?,
            })
        };
        self.all(sql, row).map_err(self.content("sentinel"))
    }

    /// The groups that this study measures: of a part those of the part, in the order of the plan.
    pub fn own_groups(&self) -> Result<Vec<GroupRecord>, StoreError> {
        let (part, mut groups) = (self.part()?, self.groups()?);
        if let Some(part) = part {
            let mut places = 0..;
            groups.retain(|_| places.next().is_some_and(|place| part.has(place)));
        }
        Ok(groups)
    }

    /// Returns whether any cell is left to do, of a part any of its own.
    pub fn has_open_cells(&self) -> Result<bool, StoreError> {
        let groups = self.own_groups()?;
        let mut cells = groups.iter().flat_map(|group| &group.cells);
        Ok(cells.any(|cell| cell.state.is_open()))
    }

    fn all<T>(&self, sql: &str, row: impl FnMut(&Row<'_>) -> rusqlite::Result<T>) -> rusqlite::Result<Vec<T>> {
        self.connection.prepare(sql)?.query_map([], row)?.collect()
    }

    /// Rows whose values have the wrong form are the content's fault, all else SQLite's.
    fn content(&self, what: &'static str) -> impl Fn(rusqlite::Error) -> StoreError {
        move |error| match error {
            // SQLite's words for it speak of columns by number.
            rusqlite::Error::FromSqlConversionFailure(_, _, cause) => StoreError::Content {
                path: self.path.clone(),
                what,
                detail: cause.to_string(),
            },
            rusqlite::Error::InvalidColumnType(..)
            | rusqlite::Error::IntegralValueOutOfRange(..)
            | rusqlite::Error::QueryReturnedNoRows => StoreError::Content {
                path: self.path.clone(),
                what,
                detail: error.to_string(),
            },
            _ => StoreError::sqlite(&self.path)(error),
        }
    }
}

fn block(row: &Row<'_>, samples: &mut CachedStatement<'_>) -> rusqlite::Result<BlockRecord> {
    let id: i64 = row.get(0)?;
    let mut taken = Vec::new();
    let mut tests = Vec::new();
    for sample in samples.query_map(params![id], |row| {
        let sample = Sample {
            elapsed_ns: row.get(0)?,
            tsc_ticks: row.get(1)?,
            operations: row.get(2)?,
        };
        Ok((sample, row.get::<_, Option<u64>>(3)?))
    })? {
        let (sample, count) = sample?;
        taken.push(sample);
        tests.extend(count);
    }
    let trace: Vec<PartTrace> = optional_json(row, 9)?.unwrap_or_default();
    let taken = TakenBlock {
        order_index: row.get(2)?,
        round: row.get(3)?,
        worker_pid: row.get(5)?,
        report: BlockReport {
            block: Block {
                samples: taken,
                discarded_operations: row.get(8)?,
                discarded_ns: row.get(13)?,
                started_ns: row.get(6)?,
                elapsed_ns: row.get(7)?,
            },
            tests,
            outputs: Vec::new(),
            trace,
            cpu: cpu_time(row)?,
        },
        losses: optional_json(row, 12)?,
    };
    Ok(BlockRecord {
        cell: CellId(row.get(1)?),
        session: SessionNumber(row.get(4)?),
        taken,
    })
}

fn cell(row: &Row<'_>) -> rusqlite::Result<CellRecord> {
    let state: String = row.get(3)?;
    let reason = || row.get::<_, Option<String>>(4).map(Option::unwrap_or_default);
    Ok(CellRecord {
        id: CellId(row.get(0)?),
        engine: row.get(1)?,
        job: json(row, 2)?,
        state: match state.as_str() {
            "planned" => CellState::Planned,
            "running" => CellState::Running,
            "done" => CellState::Done,
            "failed" => CellState::Failed(reason()?),
            _ => CellState::Unsupported(reason()?),
        },
        beginning: beginning(row)?,
    })
}

fn beginning(row: &Row<'_>) -> rusqlite::Result<Option<Beginning>> {
    let stated = (optional_json(row, 5)?, optional_json(row, 6)?, optional_json(row, 7)?);
    let (Some(ledger), Some(info), Some(readiness)) = stated else {
        return Ok(None);
    };
    Ok(Some(Beginning {
        info,
        ledger,
        readiness,
        notes: json(row, 8)?,
    }))
}

fn json<T: DeserializeOwned>(row: &Row<'_>, column: usize) -> rusqlite::Result<T> {
    parse(&row.get::<_, String>(column)?, column)
}

fn cpu_time(row: &Row<'_>) -> rusqlite::Result<Option<CpuTime>> {
    let user_ns: Option<u64> = row.get(10)?;
    let system_ns: Option<u64> = row.get(11)?;
    Ok(user_ns
        .zip(system_ns)
        .map(|(user_ns, system_ns)| CpuTime { user_ns, system_ns }))
}

fn optional_json<T: DeserializeOwned>(row: &Row<'_>, column: usize) -> rusqlite::Result<Option<T>> {
    row.get::<_, Option<String>>(column)?
        .map(|text| parse(&text, column))
        .transpose()
}

fn parse<T: DeserializeOwned>(text: &str, column: usize) -> rusqlite::Result<T> {
    serde_json::from_str(text).map_err(|error| unreadable(column, error))
}

fn unreadable(column: usize, error: impl std::error::Error + Send + Sync + 'static) -> rusqlite::Error {
    rusqlite::Error::FromSqlConversionFailure(column, Type::Text, Box::new(error))
}
