//! The articles that a plan can name: each is a folder of data.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// An article whose study can be done again.
#[derive(Clone, Copy)]
pub struct Article(&'static Source);

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
static SOURCES: [Source; 4] = sources![
    "text-threads",
    "prime-cycles",
    "keygen-libraries",
    "cpu-gpu"
];

impl Article {
    /// Every article, by its letter.
    pub fn all() -> impl Iterator<Item = Article> {
        SOURCES.iter().map(Article)
    }

    /// The article of that name.
    pub fn named(name: &str) -> Option<Article> {
        Article::all().find(|article| article.name() == name)
    }

    /// As plans have it.
    pub fn name(self) -> &'static str {
        self.0.name
    }

    /// Which cells it takes.
    pub(super) fn plan_toml(self) -> &'static str {
        self.0.plan
    }

    /// What it showed and claimed.
    pub(crate) fn review_toml(self) -> &'static str {
        self.0.review
    }
}

impl PartialEq for Article {
    fn eq(&self, other: &Article) -> bool {
        self.name() == other.name()
    }
}

impl Eq for Article {}

impl fmt::Debug for Article {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Article({})", self.name())
    }
}

impl Serialize for Article {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

impl<'de> Deserialize<'de> for Article {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = String::deserialize(deserializer)?;
        let names = || {
            Article::all()
                .map(Article::name)
                .collect::<Vec<_>>()
                .join("', '")
        };
        Article::named(&name).ok_or_else(|| {
            de::Error::custom(format!(
                "there is no article '{name}': the articles are '{}'",
                names()
            ))
        })
    }
}
