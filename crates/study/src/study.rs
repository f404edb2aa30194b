//! A study: a plan that has become a database.

use std::path::Path;

use crate::{
    error::Error,
    part::Part,
    plan::{Host, Plan, Seed},
    store::{NewStudy, Store, StoreError},
};

/// A study in its directory, open for writing by this process alone.
#[derive(Debug)]
pub struct Study {
    store: Store,
}

impl Study {
    /// Makes a study from a plan, in a directory that is made where it is missing.
    ///
    /// `command` is what the user typed, for the report. A plan without a seed gets a random one.
    ///
    /// # Errors
    /// The plan does not pass [`Plan::check`]; the directory holds a study already or cannot be written.
    pub fn create(directory: &Path, plan: &Plan, host: &Host, command: &str) -> Result<Study, Error> {
        Study::create_part(directory, plan, host, command, None)
    }

    /// As [`create`](Self::create), of a study that measures a part of the plan: with as many parts as there are, each
    /// group of cells is measured by one. The parts of a study are made of plans with one seed.
    ///
    /// # Errors
    /// As for [`create`](Self::create).
    pub fn create_part(
        directory: &Path,
        plan: &Plan,
        host: &Host,
        command: &str,
        part: Option<Part>,
    ) -> Result<Study, Error> {
        let groups = plan.groups(host)?;
        let seed = match plan.seed {
            Some(seed) => seed,
            None => Seed::random()?,
        };
        let plan_toml = plan.to_toml();
        let new = NewStudy {
            plan_toml: &plan_toml,
            groups: &groups,
            seed,
            host,
            command,
            part,
        };
        Ok(Study {
            store: Store::create(directory, &new)?,
        })
    }

    /// Opens a study to go on with it.
    ///
    /// # Errors
    /// There is none, it is damaged, of a newer version, or in use by another process.
    pub fn open(directory: &Path) -> Result<Study, StoreError> {
        Ok(Study {
            store: Store::open(directory)?,
        })
    }

    /// How much its workers give way to other processes, from 0 to 19.
    ///
    /// # Errors
    /// The database cannot be read.
    pub fn nice(&self) -> Result<u8, StoreError> {
        Ok(self.plan()?.map_or(0, |plan| plan.nice))
    }

    /// Its plan; none if that is of a newer version, which is judged where it is run.
    ///
    /// # Errors
    /// The database cannot be read.
    pub fn plan(&self) -> Result<Option<Plan>, StoreError> {
        let study = self.store.study()?;
        Ok(Plan::parse(&study.plan_toml, &study.host).ok())
    }

    /// The store with all that was measured so far.
    pub fn store(&self) -> &Store {
        &self.store
    }

    /// The store, to be written to: what [`run`](crate::run) does.
    pub fn store_mut(&mut self) -> &mut Store {
        &mut self.store
    }
}
