//! Builds the graph of the layer order from the words of all declarations. The strongest declaration is added first, so that a weaker one
//! cannot contradict it.

use super::graph::{Added, Edge, Graph};
use super::words::{Word, chains, words};
use super::{By, ChosenLayer, DiscoveredLayers, EnabledBy};
use crate::journal::Source;
use crate::manifest::LayerManifest;
use crate::text::Text;
use alloc::vec::Vec;
use os::memory::{Grow, OutOfMemory};

/// A declaration about the order of layers: one chain of words, or one list of layers.
#[derive(Clone, Copy, Debug)]
pub(super) struct Declaration<'a> {
    /// Author of the declaration.
    pub(super) by: By<'a>,
    /// The chain, or the word of a manifest; empty for a list of layers.
    pub(super) text: &'a [u8],
}

/// All declarations about the order of the layers in a call chain.
#[derive(Debug)]
pub(super) struct Declarations<'a> {
    /// Graph of the declarations that are not ignored.
    pub(super) graph: Graph,
    /// All declarations. An edge refers to its declaration by the index in this list.
    pub(super) all: Vec<Declaration<'a>>,
    /// For each declaration that contradicts stronger or earlier declarations, the first edge that caused a contradiction.
    pub(super) ignored: Vec<Edge>,
}

/// Position of a layer in a declaration; smaller positions are nearer to the application. `None` if the declaration does not concern the
/// layer.
type Rank = Option<usize>;

impl<'a> Declarations<'a> {
    /// Reads all declarations.
    ///
    /// # Errors
    /// Memory ran out.
    pub(super) fn of(list: &'a DiscoveredLayers, chain: &[ChosenLayer]) -> Result<Self, OutOfMemory> {
        let mut found = Self {
            graph: Graph::of(chain.len())?,
            all: Vec::new(),
            ignored: Vec::new(),
        };
        let layer_at = |layer: &ChosenLayer| &list.layers[layer.index];
        found.keep_equal_names(list, chain)?;
        if !list.ordered_by_settings {
            found.keep_list(By::Application, chain, |layer| {
                layer.enabled_by == EnabledBy::Application
            })?;
        }
        let order = &list.order;
        found.add_text(By::Variable, &order.variable, list, chain)?;
        for text in &order.settings {
            found.add_text(By::Settings(&order.path), text, list, chain)?;
        }
        if list.ordered_by_settings {
            found.keep_list(By::List(EnabledBy::Settings), chain, |layer| {
                layer_at(layer).source == Source::Settings
            })?
        } else {
            found.keep_list(By::List(EnabledBy::InstanceLayers), chain, |layer| {
                layer.enabled_by == EnabledBy::InstanceLayers
            })?
        }
        found.keep_list(By::List(EnabledBy::MetaLayer), chain, |layer| {
            layer.enabled_by == EnabledBy::MetaLayer
        })?;
        for (place, layer) in chain.iter().enumerate() {
            found.add_manifest(place, layer_at(layer), list, chain)?;
        }
        Ok(found)
    }

    /// Preserves the order of layers with the same name. Only a settings file can list a name twice.
    fn keep_equal_names(&mut self, list: &DiscoveredLayers, chain: &[ChosenLayer]) -> Result<(), OutOfMemory> {
        if !list.ordered_by_settings {
            return Ok(());
        }
        let name_at = |layer: &ChosenLayer| &list.layers[layer.index].name;
        for (place, layer) in chain.iter().enumerate() {
            let mut lower = chain.iter().enumerate().skip(place + 1);
            if let Some((other, _)) = lower.find(|(_, other)| name_at(other) == name_at(layer)) {
                let by = By::EqualNames;
                let ranks = (0..chain.len()).map(|at| (at == place || at == other).then_some(at));
                self.declare(Declaration { by, text: b"" }, ranks)?;
            }
        }
        Ok(())
    }

    /// Preserves the order of the listed layers.
    fn keep_list(
        &mut self,
        by: By<'a>,
        chain: &[ChosenLayer],
        belongs: impl Fn(&ChosenLayer) -> bool,
    ) -> Result<(), OutOfMemory> {
        let ranks = chain.iter().enumerate();
        let ranks = ranks.map(|(place, layer)| belongs(layer).then_some(place));
        self.declare(Declaration { by, text: b"" }, ranks)
    }

    /// Adds the chains of words in a text.
    fn add_text(
        &mut self,
        by: By<'a>,
        text: &'a [u8],
        list: &DiscoveredLayers,
        chain: &[ChosenLayer],
    ) -> Result<(), OutOfMemory> {
        for text in chains(text) {
            // A layer belongs to the most specific word that matches it; of equally specific words, to the first.
            let mut best: Vec<Option<(u8, usize)>> = Vec::new();
            best.try_exact_room(chain.len())?;
            best.resize(chain.len(), None);
            for (rank, word) in words(text).enumerate() {
                let word = Word::parse(word);
                for (best, layer) in best.iter_mut().zip(chain) {
                    let is_better = best.is_none_or(|(breadth, _)| word.breadth() < breadth);
                    if is_better && word.is_for(&list.layers[layer.index]) {
                        *best = Some((word.breadth(), rank));
                    }
                }
            }
            let ranks = best.iter().map(|best| best.map(|(_, rank)| rank));
            self.declare(Declaration { by, text }, ranks)?;
        }
        Ok(())
    }

    /// Adds the declarations of a manifest.
    fn add_manifest(
        &mut self,
        place: usize,
        layer: &'a LayerManifest,
        list: &DiscoveredLayers,
        chain: &[ChosenLayer],
    ) -> Result<(), OutOfMemory> {
        let by = By::Manifest(&layer.manifest);
        // `own` is the rank of the layer itself, and `others` the rank of the layers that a word matches.
        let mut add = |words: &'a [Text], own: usize, others: usize| {
            words.iter().try_for_each(|text| {
                let word = Word::parse(text);
                let ranks = chain.iter().enumerate().map(|(at, other)| {
                    if at == place {
                        Some(own)
                    } else {
                        word.is_for(&list.layers[other.index]).then_some(others)
                    }
                });
                self.declare(Declaration { by, text }, ranks)
            })
        };
        add(&layer.order.above, 0, 1)?;
        add(&layer.order.below, 1, 0)
    }

    /// Requires each layer to be above all layers with a larger rank. Layers without a rank are not affected.
    fn declare(&mut self, declaration: Declaration<'a>, ranks: impl Iterator<Item = Rank>) -> Result<(), OutOfMemory> {
        let mut ranked = Vec::new();
        for (place, rank) in ranks.enumerate() {
            if let Some(rank) = rank {
                ranked.try_push((rank, place))?;
            }
        }
        if ranked.len() < 2 {
            return Ok(());
        }
        os::sort(&mut ranked);
        let by = self.all.len();
        let mut ignored = None;
        // Edges between neighbours are added first, from the lowest pair up, so that all other pairs follow from these edges.
        for at in (0..ranked.len()).rev() {
            let (rank, above) = ranked[at];
            let after = &ranked[at + 1..];
            let same = after.partition_point(|&(other, _)| other == rank);
            for &(_, below) in &after[same..] {
                let edge = Edge { above, below, by };
                if self.graph.add(edge)? == Added::Contradicts {
                    ignored = ignored.or(Some(edge));
                }
            }
        }
        if let Some(edge) = ignored {
            self.ignored.try_push(edge)?;
        }
        self.all.try_push(declaration)
    }
}
