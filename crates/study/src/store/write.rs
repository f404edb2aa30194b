//! Everything that is ever written: sessions, steps of cells, blocks.

use std::time::{SystemTime, UNIX_EPOCH};

use rusqlite::{Connection, ToSql, Transaction, TransactionBehavior, params};
use serde::Serialize;

use super::{
    Beginning, BlockRecord, CellId, Ending, GroupId, InterruptedBlock, NewStudy, SessionNumber, SessionStart, Store,
    StoreError,
};
use crate::version::VERSION;

impl Store {
    /// Records that the program has started on this study.
    pub fn begin_session(&mut self, start: &SessionStart<'_>) -> Result<SessionNumber, StoreError> {
        self.write(|transaction| {
            transaction.execute(
                "INSERT INTO session (program_version, machine_json, warnings_json, started_unix_ms)
                 VALUES (?1, ?2, ?3, ?4)",
                params![VERSION, json(start.machine), json(start.warnings), unix_ms()],
            )?;
            Ok(SessionNumber(transaction.last_insert_rowid()))
        })
    }

    /// Records that a session ended in good order.
    pub fn end_session(&mut self, session: SessionNumber, ending: Ending) -> Result<(), StoreError> {
        self.write(|transaction| {
            transaction.execute(
                "UPDATE session SET ended_unix_ms = ?2, ending = ?3 WHERE number = ?1 AND ended_unix_ms IS NULL",
                params![session.0, unix_ms(), ending.name()],
            )?;
            Ok(())
        })
    }

    /// Records the time that the sentinel's work took before a group.
    pub fn add_sentinel(&mut self, session: SessionNumber, group: GroupId, elapsed_ns: f64) -> Result<(), StoreError> {
        self.write(|transaction| {
            transaction.execute(
                "INSERT INTO sentinel (session, group_id, taken_unix_ms, elapsed_ns) VALUES (?1, ?2, ?3, ?4)",
                params![session.0, group.0, unix_ms(), elapsed_ns],
            )?;
            Ok(())
        })
    }

    /// Records that a cell is being measured, or is again after a pause.
    pub fn begin_cell(&mut self, cell: CellId, beginning: &Beginning) -> Result<(), StoreError> {
        let Beginning {
            info,
            ledger,
            readiness,
            notes,
        } = beginning;
        self.change_cell(
            cell,
            "running",
            "UPDATE cell SET state = 'running', ledger_json = ?2, engine_json = ?3, readiness_json = ?4, notes_json = ?5
             WHERE id = ?1 AND state IN ('planned', 'running')",
            params![cell.0, json(ledger), json(info), json(readiness), json(notes)],
        )
    }

    /// Stores a verified block: all of it or nothing.
    pub fn add_block(&mut self, group: GroupId, record: &BlockRecord) -> Result<(), StoreError> {
        self.write(|transaction| insert_block(transaction, group, record))
    }

    /// Stores a block that was interrupted, and that its figures shall do without.
    pub fn add_interrupted_block(&mut self, group: GroupId, block: &InterruptedBlock) -> Result<(), StoreError> {
        let taken = &block.record.taken;
        self.write(|transaction| {
            transaction.execute(
                "INSERT INTO interrupted_block (cell_id, group_id, order_index, round, session, worker_pid, reason,
                                                report_json, losses_json)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
                params![
                    block.record.cell.0,
                    group.0,
                    taken.order_index,
                    taken.round,
                    block.record.session.0,
                    taken.worker_pid,
                    block.reason,
                    json(&taken.report),
                    taken.losses.as_ref().map(json),
                ],
            )?;
            Ok(())
        })
    }

    /// A cell has been measured and verified.
    pub fn complete_cell(&mut self, cell: CellId, notes: &[String]) -> Result<(), StoreError> {
        self.change_cell(
            cell,
            "done",
            "UPDATE cell SET state = 'done', notes_json = ?2 WHERE id = ?1 AND state = 'running'",
            params![cell.0, json(notes)],
        )
    }

    /// A cell has failed.
    pub fn fail_cell(&mut self, cell: CellId, reason: &str) -> Result<(), StoreError> {
        self.close_cell(cell, "failed", reason)
    }

    /// The engine does not do this cell, or is not there.
    pub fn refuse_cell(&mut self, cell: CellId, reason: &str) -> Result<(), StoreError> {
        self.close_cell(cell, "unsupported", reason)
    }

    fn close_cell(&mut self, cell: CellId, state: &'static str, reason: &str) -> Result<(), StoreError> {
        self.change_cell(
            cell,
            state,
            "UPDATE cell SET state = ?2, reason = ?3 WHERE id = ?1 AND state IN ('planned', 'running')",
            params![cell.0, state, reason],
        )
    }

    /// Brings a cell into a state, if its present state allows it.
    fn change_cell(
        &mut self,
        cell: CellId,
        to: &'static str,
        sql: &str,
        values: &[&dyn ToSql],
    ) -> Result<(), StoreError> {
        match self.write(|transaction| transaction.execute(sql, values))? {
            1 => Ok(()),
            _ => Err(StoreError::State {
                path: self.path.clone(),
                cell: cell.0,
                to,
            }),
        }
    }

    fn write<T>(&mut self, act: impl FnOnce(&Transaction<'_>) -> rusqlite::Result<T>) -> Result<T, StoreError> {
        let run = |connection: &mut Connection| {
            let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            let value = act(&transaction)?;
            transaction.commit()?;
            Ok(value)
        };
        run(&mut self.connection).map_err(StoreError::sqlite(&self.path))
    }
}

pub(super) fn plan(transaction: &Transaction<'_>, study: &NewStudy<'_>) -> rusqlite::Result<()> {
    transaction.execute(
        "INSERT INTO study (id, plan_toml, insecure_seed, host_json, program_version, command, created_unix_ms)
         VALUES (1, ?1, ?2, ?3, ?4, ?5, ?6)",
        params![
            study.plan_toml,
            study.seed.0,
            json(study.host),
            VERSION,
            study.command,
            unix_ms()
        ],
    )?;
    if let Some(part) = study.part {
        let values = params![part.number, part.of];
        transaction.execute("INSERT INTO part (id, number, of) VALUES (1, ?1, ?2)", values)?;
    }
    let mut insert_group = transaction.prepare("INSERT INTO cell_group (job_json, measure_json) VALUES (?1, ?2)")?;
    let mut insert_cell =
        transaction.prepare("INSERT INTO cell (group_id, position, engine, job_json) VALUES (?1, ?2, ?3, ?4)")?;
    for group in study.groups {
        insert_group.execute(params![json(&group.job), json(&group.measure)])?;
        let group_id = transaction.last_insert_rowid();
        for (position, cell) in group.cells.iter().enumerate() {
            insert_cell.execute(params![group_id, position, cell.engine, json(&cell.job)])?;
        }
    }
    Ok(())
}

fn insert_block(transaction: &Transaction<'_>, group: GroupId, record: &BlockRecord) -> rusqlite::Result<()> {
    let taken = &record.taken;
    let report = &taken.report;
    let trace = (!report.trace.is_empty()).then(|| json(&report.trace));
    transaction.execute(
        "INSERT INTO block (cell_id, group_id, order_index, round, session, worker_pid, started_ns, elapsed_ns,
                            discarded_operations, trace_json, cpu_user_ns, cpu_system_ns, losses_json,
                            discarded_ns)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14)",
        params![
            record.cell.0,
            group.0,
            taken.order_index,
            taken.round,
            record.session.0,
            taken.worker_pid,
            report.block.started_ns,
            report.block.elapsed_ns,
            report.block.discarded_operations,
            trace,
            report.cpu.map(|cpu| cpu.user_ns),
            report.cpu.map(|cpu| cpu.system_ns),
            taken.losses.as_ref().map(json),
            report.block.discarded_ns,
        ],
    )?;
    let block_id = transaction.last_insert_rowid();
    let mut insert = transaction.prepare_cached(
        "INSERT INTO sample (block_id, position, elapsed_ns, tsc_ticks, operations, primality_tests)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
    )?;
    for (position, sample) in report.block.samples.iter().enumerate() {
        let tests = report.tests.get(position);
        insert.execute(params![
            block_id,
            position,
            sample.elapsed_ns,
            sample.tsc_ticks,
            sample.operations,
            tests
        ])?;
    }
    Ok(())
}

fn json<T: Serialize + ?Sized>(value: &T) -> String {
    serde_json::to_string(value).expect("records have text keys and finite numbers, so they have a JSON form")
}

fn unix_ms() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}
