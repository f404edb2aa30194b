//! An article as data: its figures, tables and claims, each with the formula that its numbers come from.
//!
//! Texts are templates: `{NAME}` is a value in scope in words, `{NAME NOUN}` a count of something (`4 threads`),
//! `{NAME #}` a number in full.

use std::collections::BTreeMap;

use serde::{Deserialize, Deserializer, de};

/// The file `review.toml` of an article.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Definition {
    /// The article's letter.
    pub(super) id: String,
    pub(super) title: String,
    pub(super) source: String,
    pub(super) machine: String,
    /// Named lists, for the axes of tables, figures and claims.
    #[serde(default)]
    pub(super) lists: BTreeMap<String, Vec<Entry>>,
    /// Lists of key sizes, which the study's own sizes replace.
    #[serde(default)]
    pub(super) sizes: BTreeMap<String, Sizes>,
    /// Lists of sizes of texts, which the study's own sizes replace.
    #[serde(default)]
    pub(super) texts: BTreeMap<String, Texts>,
    /// Bits of messages, each with the modulus that it belongs to: with one that it does not fit it is as long in
    /// proportion.
    #[serde(default)]
    pub(super) messages: BTreeMap<String, usize>,
    /// How values are called in sentences.
    #[serde(default)]
    pub(super) words: BTreeMap<String, String>,
    /// Jobs by name: the fields of a job that a formula does not state itself.
    pub(super) cells: BTreeMap<String, BTreeMap<String, Field>>,
    /// Formulas by name.
    #[serde(default, rename = "let")]
    pub(super) formulas: BTreeMap<String, String>,
    pub(super) device: Option<Device>,
    #[serde(default)]
    pub(super) reasons: Vec<Replacement>,
    #[serde(default)]
    pub(super) remark: Vec<Remark>,
    #[serde(default)]
    pub(super) figure: Vec<FigureData>,
    #[serde(default)]
    pub(super) table: Vec<TableData>,
    #[serde(default)]
    pub(super) claim: Vec<ClaimData>,
    /// Where the files lie that its program saves of each batch, and of which cells.
    #[serde(default)]
    pub(super) batch_files: Vec<Axis>,
    /// Values that the article printed, by the id of its table.
    #[serde(default)]
    pub(super) published: toml::Table,
}

/// Which of a study's key sizes a list has.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Sizes {
    /// From so many bits on.
    pub(super) from: usize,
    /// Below so many bits.
    pub(super) below: Option<usize>,
    /// `true` if each has the bits of its primes beside it.
    pub(super) primes: bool,
    /// Of which groups.
    pub(super) of: SizesOf,
    /// `true` if an id stands before each, which the study's sizes take over.
    pub(super) named: bool,
}

#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum SizesOf {
    #[default]
    All,
    /// Texts of many messages.
    Many,
    /// Batches of more than one item.
    Batches,
}

/// Which of a study's sizes of texts a list has.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Texts {
    /// From so many symbols on.
    pub(super) from: usize,
    /// Up to so many symbols.
    pub(super) to: Option<usize>,
    /// `true` if an id stands before each, which the study's sizes take over.
    pub(super) named: bool,
}

/// Text, or a number taken as such.
#[derive(Clone, Debug)]
pub(super) struct Text(pub(super) String);

impl<'de> Deserialize<'de> for Text {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match toml::Value::deserialize(deserializer)? {
            toml::Value::String(text) => Ok(Text(text)),
            number @ (toml::Value::Integer(_) | toml::Value::Float(_)) => Ok(Text(number.to_string())),
            _ => Err(de::Error::custom("expected text or a number")),
        }
    }
}

/// Names and the values that they take one after another: `["bits", [1024, 2048]]`, `["bits", "sizes"]` by the name of
/// a list, or several names that change together, `[["bits", "prime"], [[1024, 512], [2048, 1024]]]`.
#[derive(Debug, Deserialize)]
pub(super) struct Axis(pub(super) Entry, pub(super) Values);

#[derive(Debug, Deserialize)]
#[serde(untagged)]
pub(super) enum Values {
    List(String),
    These(Vec<Entry>),
}

/// One value, or several that belong together.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
pub(super) enum Entry {
    One(Text),
    Several(Vec<Text>),
}

impl Entry {
    pub(super) fn words(&self) -> Vec<String> {
        match self {
            Entry::One(text) => vec![text.0.clone()],
            Entry::Several(texts) => texts.iter().map(|text| text.0.clone()).collect(),
        }
    }
}

/// The value of a job's field, or one for each direction.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
pub(super) enum Field {
    Fixed(Text),
    ByDirection(BTreeMap<String, Text>),
}

/// The engine that claims about a device are decided by.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Device {
    pub(super) engine: String,
    /// The sentence where it has no figures.
    pub(super) absent: String,
    /// The sentence where its kernels ran on a CPU.
    pub(super) on_cpu: String,
}

/// A reason for which there is another one here.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Replacement {
    /// Of these engines; of all if there are none.
    pub(super) engines: Vec<String>,
    pub(super) op: Option<String>,
    pub(super) begins: String,
    /// At least one of these, if there are any.
    pub(super) contains: Vec<String>,
    pub(super) says: String,
}

/// A condition, and the reason that is given where it does not hold; each has one of its own.
pub(super) type Need = Vec<String>;
/// Named formulas, worked out in their order.
pub(super) type Also = Vec<(String, String)>;
pub(super) type Set = BTreeMap<String, Text>;

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Remark {
    pub(super) needs: Vec<Need>,
    pub(super) each: Vec<Axis>,
    pub(super) also: Also,
    pub(super) text: String,
    /// Said where a formula has no value; nothing is said if this is empty.
    pub(super) lacking: String,
    pub(super) evaluator: Option<RemarkEvaluator>,
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum RemarkEvaluator {
    /// Why the columns of the device are empty, or what they are.
    Device,
    /// Texts that were planned and done.
    TextCounts,
}

/// Tables of one layout, one for each value of `with`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct TableData {
    pub(super) with: Option<Axis>,
    pub(super) id: String,
    pub(super) title: String,
    pub(super) unit: String,
    pub(super) row_head: String,
    pub(super) columns: Vec<ColumnData>,
    pub(super) rows: Vec<RowData>,
    /// Under which conditions printed numbers stand beside ours: those that they were printed for.
    #[serde(default)]
    pub(super) published_needs: Vec<Need>,
    #[serde(default)]
    pub(super) remarks: Vec<Remark>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ColumnData {
    #[serde(default)]
    pub(super) each: Vec<Axis>,
    #[serde(default)]
    pub(super) set: Set,
    pub(super) head: String,
    /// The formula of its cells, where the row has none.
    #[serde(default)]
    pub(super) value: String,
    /// Where the printed number lies in `published`.
    #[serde(default)]
    pub(super) published: String,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RowData {
    #[serde(default)]
    pub(super) each: Vec<Axis>,
    #[serde(default)]
    pub(super) set: Set,
    pub(super) label: String,
    pub(super) value: Option<String>,
}

/// Figures of one layout: an entry for each value of `with`, which stands for a figure for each value of `each`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct FigureData {
    pub(super) with: Option<Axis>,
    pub(super) id: String,
    pub(super) title: String,
    /// Why there is none.
    pub(super) lacking: String,
    #[serde(default)]
    pub(super) each: Vec<Axis>,
    pub(super) name: String,
    pub(super) heading: String,
    pub(super) description: String,
    pub(super) x: AxisData,
    pub(super) y: AxisData,
    pub(super) series: Vec<SeriesData>,
    #[serde(default)]
    pub(super) references: Vec<ReferenceData>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct AxisData {
    pub(super) label: String,
    pub(super) unit: Option<String>,
    /// The name that takes the values of a list from point to point.
    #[serde(default)]
    pub(super) of: String,
    #[serde(default)]
    pub(super) values: String,
    /// `true` if each of them has a mark.
    #[serde(default)]
    pub(super) ticks: bool,
    #[serde(default)]
    pub(super) log: bool,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct SeriesData {
    pub(super) needs: Vec<Need>,
    pub(super) each: Vec<Axis>,
    pub(super) name: String,
    pub(super) value: String,
    /// Where printed numbers lie that the value is worked out from.
    pub(super) published: String,
    pub(super) note: String,
    /// In place of a value: the cell whose ticks are shown by their shares.
    pub(super) distribution: String,
    pub(super) noun: String,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ReferenceData {
    #[serde(default)]
    pub(super) needs: Vec<Need>,
    #[serde(default)]
    pub(super) published: String,
    pub(super) y: String,
    pub(super) label: String,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ClaimData {
    pub(super) id: String,
    pub(super) claim: String,
    pub(super) published: String,
    pub(super) computed: String,
    #[serde(default)]
    pub(super) each: Vec<Axis>,
    pub(super) cases: Vec<CaseData>,
}

/// Comparisons of one kind.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct CaseData {
    /// `true` if they are about the device: one case with the reason, as long as there is none.
    pub(super) on_device: bool,
    pub(super) set: Set,
    pub(super) each: Vec<Axis>,
    pub(super) needs: Vec<Need>,
    pub(super) case: String,
    pub(super) also: Also,
    pub(super) value: String,
    /// The quantity that is judged, where it is not the value itself.
    pub(super) judge: String,
    pub(super) relation: Option<Relation>,
    /// The name of the case in which there are no two values to see growth by.
    pub(super) growth: String,
    pub(super) sentence: String,
    /// Said in place of the reason for which a formula has no value.
    pub(super) lacking: String,
    pub(super) reasons: Vec<Replacement>,
    /// Added to the sentence where these formulas have values.
    pub(super) more_also: Also,
    pub(super) more: String,
    /// The most that the value can be here: nothing is decided where the relation asks for more.
    pub(super) limit: String,
    pub(super) beyond: String,
    pub(super) evaluator: Option<CaseEvaluator>,
}

/// How a value must lie for a claim to hold; bounds are formulas.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Relation {
    /// Above the bound, beyond noise.
    Above(String),
    /// Above the bound; between 1 and the bound nothing is decided unless the interval says which.
    FarAbove(String),
    /// Within this of 1.
    Alike(String),
    /// More than this above 1: a value within it contradicts the claim.
    AboveAlike(String),
    /// The whole interval between two bounds.
    Within([String; 2]),
    /// Above the bound, beyond noise, and above the value before.
    Growing(String),
    /// A saving in per cent that comes near the published one.
    Saves(String),
    /// A gain that comes near the published one.
    Reaches(String),
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum CaseEvaluator {
    /// Below which size two threads take longer than one.
    ThreadsHurt,
    /// Which number of threads is best in a class of sizes.
    BestThreadCount,
    /// At how many sizes two threads save almost half of the time.
    MostSaveHalf,
}
