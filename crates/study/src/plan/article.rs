//! The articles that a plan can name: each is a folder of data.

use serde::{Deserialize, Deserializer, Serialize, de};

/// An article whose study can be done again, by its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Article(&'static str);

/// The files of an article.
struct Source {
    name: &'static str,
    plan: &'static str,
    review: &'static str,
}

macro_rules! sources {
    ($($name:literal),*) => {
        [$(Source {
            name: $name,
            plan: include_str!(concat!("../../articles/", $name, "/plan.toml")),
            review: include_str!(concat!("../../articles/", $name, "/review.toml")),
        }),*]
    };
}

/// By the letters of the articles.
static SOURCES: [Source; 4] = sources!["text-threads", "prime-cycles", "keygen-libraries", "cpu-gpu"];

impl Article {
    /// Every article, by its letter.
    pub fn all() -> impl Iterator<Item = Article> {
        SOURCES.iter().map(|source| Article(source.name))
    }

    /// The article of that name.
    pub fn named(name: &str) -> Option<Article> {
        Article::all().find(|article| article.name() == name)
    }

    /// As plans have it.
    pub fn name(self) -> &'static str {
        self.0
    }

    fn source(self) -> &'static Source {
        let found = SOURCES.iter().find(|source| source.name == self.0);
        found.expect("only articles with a source are made")
    }

    /// Which cells it takes.
    pub(super) fn plan_toml(self) -> &'static str {
        self.source().plan
    }

    /// Its tables, figures and claims.
    pub(crate) fn review_toml(self) -> &'static str {
        self.source().review
    }
}

impl<'de> Deserialize<'de> for Article {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = String::deserialize(deserializer)?;
        Article::named(&name).ok_or_else(|| {
            let names: Vec<&str> = Article::all().map(Article::name).collect();
            de::Error::custom(format!(
                "there is no article '{name}': the articles are '{}'",
                names.join("', '")
            ))
        })
    }
}
