//! Log lines and trace records about the order of layers.

use super::declare::{Declaration, Declarations};
use super::graph::Edge;
use super::words::{Word, chains, words};
use super::{By, ChosenLayer, DiscoveredLayers, Purpose};
use crate::env::Variable;
use crate::journal::{Journal, LogBits};
use crate::manifest::LayerManifest;
use crate::text::Text;
use crate::trace;
use core::fmt::{Display, Formatter};
use os::memory::OutOfMemory;
use os::{Raw, Show};

const INFO: LogBits = LogBits::INFO.with(LogBits::LAYER);
const WARN: LogBits = LogBits::WARN.with(LogBits::LAYER);

/// Upper bound on the number of contradictions that are described; the log only counts further ones.
const MOST_DESCRIBED: usize = 16;

impl By<'_> {
    /// Returns the word by which the trace names the author of a declaration.
    fn word(self) -> &'static str {
        match self {
            Self::Application => "application",
            Self::Variable => Variable::LayersOrder.name(),
            Self::EqualNames | Self::Settings(_) => "settings",
            Self::List(enabled_by) => enabled_by.word(),
            Self::Manifest(_) => "manifest",
        }
    }
}

impl Declaration<'_> {
    /// Returns the origin of the declaration, followed by its text in parentheses.
    fn text(&self) -> impl Display + '_ {
        Show(|out: &mut Formatter<'_>| {
            match self.by {
                By::EqualNames => out.write_str("the settings file lists the name twice, in this order")?,
                By::Application => out.write_str("the application's list of layers")?,
                By::Variable => out.write_str(self.by.word())?,
                By::Settings(path) => write!(out, "layer_order in {path}")?,
                By::List(enabled_by) => write!(out, "the list of {}", enabled_by.word())?,
                By::Manifest(path) => write!(out, "the order in {path}")?,
            }
            match self.text {
                b"" => Ok(()),
                text => write!(out, " ({})", Raw(text)),
            }
        })
    }

    /// Returns the file that contains the declaration.
    fn path(&self) -> Option<&Text> {
        match self.by {
            By::Settings(path) | By::Manifest(path) => Some(path),
            By::EqualNames | By::Application | By::Variable | By::List(_) => None,
        }
    }
}

/// Returns the name of a layer in the chain.
fn name<'a>(list: &'a DiscoveredLayers, chain: &[ChosenLayer], place: usize) -> &'a Text {
    &list.layers[chain[place].index].name
}

/// Logs and traces each layer that moved, with the declaration that moved it.
pub(super) fn moves(
    list: &DiscoveredLayers,
    chain: &[ChosenLayer],
    declarations: &Declarations<'_>,
    moves: &[Edge],
    purpose: Purpose,
    journal: &Journal<'_>,
) {
    for edge in moves {
        let declaration = &declarations.all[edge.by];
        let (above, below) = (name(list, chain, edge.above), name(list, chain, edge.below));
        if purpose == Purpose::Instance {
            trace::write("order", |record| {
                record.text("layer", below);
                record.text("below", above);
                record.word("by", declaration.by.word());
                if let Some(path) = declaration.path() {
                    record.text("path", path);
                }
                if !declaration.text.is_empty() {
                    record.text("declared", declaration.text);
                }
            });
        }
        let says = declaration.text();
        journal.note(
            INFO,
            format_args!("Layer order: \"{below}\" goes below \"{above}\": {says}"),
        );
    }
}

/// Logs each declaration that is ignored, with the declarations that it contradicts.
///
/// # Errors
/// Memory ran out.
pub(super) fn contradictions(
    list: &DiscoveredLayers,
    chain: &[ChosenLayer],
    declarations: &Declarations<'_>,
    journal: &Journal<'_>,
) -> Result<(), OutOfMemory> {
    if !journal.wants(WARN) {
        return Ok(());
    }
    // The order of a list, such as `VK_INSTANCE_LAYERS`, is a weak declaration. A user who declares the position of a layer need not change
    // the lists too, so ignored lists are not reported.
    let is_told = |edge: &&Edge| !matches!(declarations.all[edge.by].by, By::List(_));
    let told = || declarations.ignored.iter().filter(is_told);
    for edge in told().take(MOST_DESCRIBED) {
        let (above, below) = (name(list, chain, edge.above), name(list, chain, edge.below));
        let says = declarations.all[edge.by].text();
        journal.note(
            WARN,
            format_args!("Layer order: ignoring \"{above}\" above \"{below}\": {says}. It contradicts:"),
        );
        for edge in declarations.graph.path(edge.below, edge.above)? {
            let (above, below) = (name(list, chain, edge.above), name(list, chain, edge.below));
            let says = declarations.all[edge.by].text();
            journal.note(WARN, format_args!("   \"{above}\" above \"{below}\": {says}"));
        }
    }
    let more = told().count().saturating_sub(MOST_DESCRIBED);
    if more > 0 {
        journal.note(
            WARN,
            format_args!("Layer order: {more} more contradictions are ignored"),
        );
    }
    Ok(())
}

/// Logs the user's declarations that have no effect.
pub(super) fn note_useless(list: &DiscoveredLayers, journal: &Journal<'_>) {
    // If explicit layers were not searched, a name that was not found may still belong to an explicit layer.
    if !journal.wants(WARN) || list.without_explicit {
        return;
    }
    let order = &list.order;
    let variable = core::iter::once((By::Variable, &order.variable));
    let settings = order.settings.iter().map(|text| (By::Settings(&order.path), text));
    let (mut single, mut unknown) = (Tally::default(), Tally::default());
    for (by, text) in variable.chain(settings) {
        for text in chains(text) {
            if words(text).nth(1).is_none() {
                single.add(Declaration { by, text });
            }
            for text in words(text).filter(|word| is_unknown(word, list)) {
                unknown.add(Declaration { by, text });
            }
        }
    }
    single.note("it puts nothing above or below", journal);
    unknown.note("no layer with a library has this name", journal);
}

/// The first of several declarations, and the number of declarations.
#[derive(Default)]
struct Tally<'a>(Option<Declaration<'a>>, usize);

impl<'a> Tally<'a> {
    fn add(&mut self, declaration: Declaration<'a>) {
        self.0 = self.0.or(Some(declaration));
        self.1 += 1;
    }

    fn note(&self, problem: &str, journal: &Journal<'_>) {
        let Self(Some(first), count) = self else { return };
        let says = first.text();
        match count - 1 {
            0 => journal.note(WARN, format_args!("Layer order: {problem}: {says}")),
            more => journal.note(WARN, format_args!("Layer order: {problem}: {says}, and {more} more")),
        }
    }
}

/// Returns `true` if a word is not a kind of layer, and is not the name of a layer that can be in a chain.
fn is_unknown(word: &[u8], list: &DiscoveredLayers) -> bool {
    let word = Word::parse(word);
    let is_for = |layer: &LayerManifest| layer.components().is_none() && word.is_for(layer);
    matches!(word, Word::Names(_)) && !list.layers.iter().any(is_for)
}
