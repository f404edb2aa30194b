//! Which engines are meant: names, what is installed, and the kernel of our own.

use rsalab_engines::{Absent, Location, Own, Registry, Selector};

use crate::{
    exit::{Class, Failure, Result},
    kernels, steps,
};

/// The engine whose kernel can be chosen.
const OWN: &str = "own";

/// Where engines are looked for.
pub(super) fn registry() -> Result<Registry> {
    let registry = Registry::of_this_program()
        .map_err(|error| Failure::new(Class::Io, "the system does not say where this program lies").because(error))?;
    steps::ended(|| {
        let folders = registry.folders();
        let folders: Vec<String> = folders.iter().map(|folder| folder.display().to_string()).collect();
        format!("engines: looked for in {}", folders.join(", then "))
    });
    Ok(registry)
}

/// The engines that are installed.
pub(super) fn present(registry: &Registry) -> impl Iterator<Item = String> {
    registry
        .engines()
        .into_iter()
        .filter(|entry| registry.locate(entry).is_ok())
        .map(|entry| entry.name)
}

/// The selectors with the kernel that was asked for: it is a variant of our own engine.
///
/// Fails where the kernel does not exist, does not run here, or where nobody would use it.
pub(super) fn with_kernel(engines: &[String], kernel: Option<&str>) -> Result<Vec<String>> {
    let Some(kernel) = kernel else {
        return Ok(engines.to_vec());
    };
    kernels::check(kernel)?;
    if !engines.iter().any(|engine| engine == OWN) {
        let what = "--kernel chooses the kernel of the engine 'own', which is not among the engines";
        return Err(Failure::new(Class::Usage, what).advice("leave --kernel out, or name own"));
    }
    let chosen = |engine: &String| match engine.as_str() {
        OWN => format!("{OWN}:{kernel}"),
        _ => engine.clone(),
    };
    Ok(engines.iter().map(chosen).collect())
}

/// Reads selectors that were typed or that a plan has: each names an engine and, of our own, a variant that exists.
/// Whether they are installed is another question.
pub(super) fn known(registry: &Registry, selectors: &[String]) -> Result<Vec<Selector>> {
    let mut known = Vec::new();
    for text in selectors {
        let selector = registry
            .select(text)
            .map_err(|error| Failure::new(Class::Usage, error.to_string()))?;
        if let (OWN, Some(variant)) = (selector.engine.name.as_ref(), &selector.variant)
            && ![Own::PLAIN, Own::STRICT, Own::TESTED].contains(&variant.as_str())
        {
            kernels::known(variant)?;
        }
        known.push(selector);
    }
    Ok(known)
}

/// Refuses a list that names an engine twice, for commands to which the second would mean nothing.
pub(super) fn distinct(selectors: &[String]) -> Result<()> {
    for (index, text) in selectors.iter().enumerate() {
        if selectors[..index].contains(text) {
            let what = format!("the engine '{text}' is listed twice");
            return Err(Failure::new(Class::Usage, what).advice("name it once"));
        }
    }
    Ok(())
}

/// Where the engine's worker is, or the command that installs it.
pub(super) fn installed(registry: &Registry, selector: &Selector) -> Result<Location> {
    let located = registry.locate(&selector.engine);
    if located.is_ok() {
        steps::ended(|| format!("engine {selector}: installed"));
    }
    located.map_err(|Absent::NotInstalled { engine, install, .. }| {
        let what = format!("the engine '{engine}' is not installed");
        Failure::new(Class::Unavailable, what).advice(format!("get it with: {install}"))
    })
}
