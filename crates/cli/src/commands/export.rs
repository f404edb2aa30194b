//! `rsalab export`: the samples of a study in one file.

use std::{
    io::{self, Write},
    path::Path,
};

use rsalab_study::{
    export::{self, ExportError, Exported, Format},
    number,
    store::Store,
};

use super::{inputs::Destination, study::note_store};
use crate::{
    arguments::{Export, TableFormat},
    exit::{Failure, Result},
    files::{self, Privacy},
    output::Log,
};

/// Writes the samples.
pub(crate) fn run(arguments: &Export, log: Log) -> Result<()> {
    let out = arguments.out.path();
    let format = format(arguments.format, out);
    let destination = Destination::of(out)?;
    if format == Format::Parquet {
        destination.check_terminal("a Parquet file")?;
    }
    let store = Store::view(&arguments.directory).map_err(rsalab_study::Error::from)?;
    note_store(&arguments.directory);
    match &destination {
        Destination::Stdout => match write(&store, format, io::stdout()) {
            // A table: its reader has read enough.
            Err(ExportError::Write(error)) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
            written => written.map(drop).map_err(|error| failure(error, "standard output")),
        },
        Destination::File(path) => {
            let name = path.display().to_string();
            let exported = files::create_from(path, Privacy::Public, |file| {
                write(&store, format, file).map_err(|error| failure(error, &name))
            })?;
            log.note(summary(exported, &name));
            Ok(())
        }
    }
}

/// The format that was asked for, or else the one that the file's name ends in.
fn format(typed: Option<TableFormat>, out: Option<&Path>) -> Format {
    match typed {
        Some(TableFormat::Csv) => Format::Csv,
        Some(TableFormat::Parquet) => Format::Parquet,
        None => match out.and_then(Path::extension) {
            Some(ending) if ending.eq_ignore_ascii_case("parquet") => Format::Parquet,
            _ => Format::Csv,
        },
    }
}

fn write(store: &Store, format: Format, mut file: impl Write + Send) -> Result<Exported, ExportError> {
    let exported = export::samples(store, format, &mut file)?;
    file.flush()?;
    Ok(exported)
}

fn failure(error: ExportError, name: &str) -> Failure {
    match error {
        ExportError::Store(error) => rsalab_study::Error::from(error).into(),
        ExportError::Write(error) => Failure::io(format!("cannot write {name}"), error),
    }
}

fn summary(exported: Exported, name: &str) -> String {
    let Exported { samples, counted } = exported;
    let written = format!("{} written to {name}", number::counted(samples, "sample"));
    match samples - counted {
        0 => written,
        others => format!("{written}; {others} of them are in no figure, and have 'counted' false"),
    }
}
