//! A software bill of materials as JSON of CycloneDX 1.6 (ECMA-424, 1st edition).
//!
//! It has no time and no serial number: the same programs give the same bytes.

use anyhow::Result;
use serde::Serialize;

use super::component::{Component, Program};

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Document<'a> {
    #[serde(rename = "$schema")]
    schema: &'static str,
    bom_format: &'static str,
    spec_version: &'static str,
    version: u32,
    metadata: Metadata<'a>,
    components: Vec<Listed<'a>>,
    dependencies: Vec<Dependency<'a>>,
}

#[derive(Serialize)]
struct Metadata<'a> {
    component: Listed<'a>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Listed<'a> {
    r#type: &'static str,
    #[serde(rename = "bom-ref")]
    reference: &'a str,
    name: &'a str,
    version: &'a str,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    hashes: Vec<Hash<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    licenses: Vec<Licence<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    purl: Option<&'a str>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    external_references: Vec<Reference<'a>>,
}

#[derive(Serialize)]
struct Hash<'a> {
    alg: &'static str,
    content: &'a str,
}

#[derive(Serialize)]
struct Licence<'a> {
    expression: &'a str,
}

#[derive(Serialize)]
struct Reference<'a> {
    r#type: &'static str,
    url: &'a str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Dependency<'a> {
    r#ref: &'a str,
    depends_on: Vec<&'a str>,
}

impl<'a> Listed<'a> {
    fn library(component: &'a Component) -> Self {
        let hash = component.checksum.as_deref().map(|content| Hash {
            alg: "SHA-256",
            content,
        });
        let home = component.home.as_deref().map(|url| Reference { r#type: "vcs", url });
        Listed {
            r#type: "library",
            reference: &component.purl,
            name: &component.name,
            version: &component.version,
            hashes: hash.into_iter().collect(),
            licenses: vec![Licence {
                expression: &component.licence,
            }],
            purl: Some(&component.purl),
            external_references: home.into_iter().collect(),
        }
    }
}

/// The subject of a document.
pub(super) struct Subject<'a> {
    /// `application` or `library`.
    pub(super) kind: &'static str,
    /// The kind of package in its URL: `pypi`, `cargo`.
    pub(super) origin: &'static str,
    pub(super) name: &'a str,
    pub(super) version: &'a str,
    pub(super) licence: &'a str,
}

/// The document of a wheel or a package, its programs where it has several files, and all that is in any of them.
pub(super) fn document(subject: &Subject<'_>, programs: &[Program], all: &[&Component]) -> Result<String> {
    let Subject {
        kind,
        origin,
        name,
        version,
        licence,
    } = *subject;
    let purl = format!("pkg:{origin}/{name}@{version}");
    let whole = Listed {
        r#type: kind,
        reference: &purl,
        name,
        version,
        hashes: Vec::new(),
        licenses: vec![Licence { expression: licence }],
        purl: Some(&purl),
        external_references: Vec::new(),
    };
    let references: Vec<String> = programs
        .iter()
        .map(|program| format!("{purl}#{}", program.file))
        .collect();
    let applications = programs.iter().zip(&references).map(|(program, reference)| Listed {
        r#type: "application",
        reference,
        name: &program.file,
        version,
        hashes: Vec::new(),
        licenses: vec![Licence { expression: licence }],
        purl: None,
        external_references: Vec::new(),
    });
    let uses = programs.iter().zip(&references).map(|(program, reference)| Dependency {
        r#ref: reference,
        depends_on: program
            .components
            .iter()
            .map(|component| component.purl.as_str())
            .collect(),
    });
    let of_whole = Dependency {
        r#ref: &purl,
        depends_on: match programs.is_empty() {
            true => all.iter().map(|component| component.purl.as_str()).collect(),
            false => references.iter().map(String::as_str).collect(),
        },
    };
    let document = Document {
        schema: "http://cyclonedx.org/schema/bom-1.6.schema.json",
        bom_format: "CycloneDX",
        spec_version: "1.6",
        version: 1,
        metadata: Metadata { component: whole },
        components: applications.chain(all.iter().copied().map(Listed::library)).collect(),
        dependencies: [of_whole].into_iter().chain(uses).collect(),
    };
    Ok(serde_json::to_string_pretty(&document)?)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_reference_leads_to_a_component() {
        let gmp = Component {
            name: "GMP".to_owned(),
            version: "6.3.0".to_owned(),
            licence: "LGPL-3.0-or-later OR GPL-2.0-or-later".to_owned(),
            purl: "pkg:generic/gmp@6.3.0".to_owned(),
            home: None,
            checksum: Some("ab".repeat(32)),
            texts: BTreeSet::new(),
        };
        let programs = [
            Program {
                file: "rsalab".to_owned(),
                components: Vec::new(),
            },
            Program {
                file: "rsalab-peer-gmp".to_owned(),
                components: vec![gmp.clone()],
            },
        ];
        let subject = Subject {
            kind: "application",
            origin: "pypi",
            name: "rsalab",
            version: "0.1.0",
            licence: "MIT OR Apache-2.0",
        };
        let text = document(&subject, &programs, &[&gmp]).unwrap();
        let json: serde_json::Value = serde_json::from_str(&text).unwrap();
        assert_eq!(json["specVersion"], "1.6");
        let mut known: BTreeSet<&str> = json["components"]
            .as_array()
            .unwrap()
            .iter()
            .map(|component| component["bom-ref"].as_str().unwrap())
            .collect();
        assert_eq!(known.len(), 3, "{text}");
        known.insert(json["metadata"]["component"]["bom-ref"].as_str().unwrap());
        let dependencies = json["dependencies"].as_array().unwrap();
        assert_eq!(dependencies.len(), 3, "{text}");
        for dependency in dependencies {
            let on = dependency["dependsOn"].as_array().unwrap();
            for reference in on.iter().chain([&dependency["ref"]]) {
                assert!(known.contains(reference.as_str().unwrap()), "{reference} in {text}");
            }
        }
        assert_eq!(json["components"][2]["hashes"][0]["alg"], "SHA-256");
    }
}
