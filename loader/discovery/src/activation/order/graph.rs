//! A graph without cycles that requires some layers to be above others, and the stable order that follows from the graph.

use alloc::vec::Vec;
use os::memory::{Grow, OutOfMemory};

/// Requirement that one layer is above another. A layer's number is its position in the list before sorting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Edge {
    /// The layer nearer to the application.
    pub(super) above: usize,
    /// The layer nearer to the driver.
    pub(super) below: usize,
    /// Index of the declaration that requires this order.
    pub(super) by: usize,
}

/// Result of adding an edge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Added {
    /// The edge is new, or other edges already imply it.
    Yes,
    /// Other edges require the opposite order, so the edge was not added.
    Contradicts,
}

/// A relation between layers that never has a cycle.
#[derive(Debug)]
pub(super) struct Graph {
    size: usize,
    /// For each layer, a row of bits that marks the layers that must be below it, directly or through other layers.
    below: Vec<u64>,
    /// The edges that earlier edges did not imply.
    edges: Vec<Edge>,
}

impl Graph {
    /// Returns a graph of `size` layers without edges: every order is allowed.
    ///
    /// # Errors
    /// Memory ran out.
    pub(super) fn of(size: usize) -> Result<Self, OutOfMemory> {
        let mut below = Vec::new();
        let bits = size.checked_mul(Self::words(size)).ok_or(OutOfMemory)?;
        below.try_exact_room(bits)?;
        below.resize(bits, 0);
        Ok(Self {
            size,
            below,
            edges: Vec::new(),
        })
    }

    /// Returns the number of 64-bit words in a row of bits.
    fn words(size: usize) -> usize {
        size.div_ceil(64)
    }

    /// Returns `true` if one layer must be above another.
    pub(super) fn has(&self, above: usize, below: usize) -> bool {
        let word = self.below[above * Self::words(self.size) + below / 64];
        word >> (below % 64) & 1 == 1
    }

    /// Adds an edge between two different layers.
    ///
    /// # Errors
    /// Memory ran out.
    pub(super) fn add(&mut self, edge: Edge) -> Result<Added, OutOfMemory> {
        if self.has(edge.below, edge.above) {
            return Ok(Added::Contradicts);
        }
        if self.has(edge.above, edge.below) {
            return Ok(Added::Yes);
        }
        self.edges.try_push(edge)?;
        let words = Self::words(self.size);
        for layer in 0..self.size {
            // A layer that is already above both layers is also above everything below them.
            if layer != edge.above && (!self.has(layer, edge.above) || self.has(layer, edge.below)) {
                continue;
            }
            for word in 0..words {
                self.below[layer * words + word] |= self.below[edge.below * words + word];
            }
            self.below[layer * words + edge.below / 64] |= 1 << (edge.below % 64);
        }
        Ok(Added::Yes)
    }

    /// Returns the edges of a path from one layer down to another; the list is empty if there is no path.
    ///
    /// # Errors
    /// Memory ran out.
    pub(super) fn path(&self, from: usize, to: usize) -> Result<Vec<Edge>, OutOfMemory> {
        let mut arrived: Vec<Option<Edge>> = Vec::new();
        arrived.try_exact_room(self.size)?;
        arrived.resize(self.size, None);
        let mut grows = self.has(from, to);
        while grows && arrived[to].is_none() {
            grows = false;
            for edge in &self.edges {
                let is_reached = edge.above == from || arrived[edge.above].is_some();
                if is_reached && edge.below != from && arrived[edge.below].is_none() {
                    arrived[edge.below] = Some(*edge);
                    grows = true;
                }
            }
        }
        let mut path = Vec::new();
        let mut last = to;
        while let Some(edge) = arrived[last] {
            path.try_push(edge)?;
            last = edge.above;
        }
        path.reverse();
        Ok(path)
    }

    /// Returns the layers in their new order, from the application down. If several layers may come next, the sort picks the first of them
    /// in the old order. Therefore, a layer moves only down, and only as far as an edge requires.
    ///
    /// # Errors
    /// Memory ran out.
    pub(super) fn sorted(&self) -> Result<Vec<usize>, OutOfMemory> {
        // For each layer, the number of layers that must be above it and are not sorted yet.
        let mut blocked = Vec::new();
        blocked.try_exact_room(self.size)?;
        blocked.resize(self.size, 0_usize);
        for above in 0..self.size {
            for (below, count) in blocked.iter_mut().enumerate() {
                *count += usize::from(self.has(above, below));
            }
        }
        let mut sorted = Vec::new();
        sorted.try_exact_room(self.size)?;
        while let Some(next) = blocked.iter().position(|&count| count == 0) {
            // A count never reaches this value, so the search for a layer without blockers does not find this layer again.
            blocked[next] = usize::MAX;
            sorted.push(next);
            for (below, count) in blocked.iter_mut().enumerate() {
                *count -= usize::from(self.has(next, below));
            }
        }
        Ok(sorted)
    }

    /// Returns an edge for each layer that was above another layer in the old order and is below it in the new order: the edge that moved
    /// the layer.
    ///
    /// # Errors
    ///
    /// Memory ran out.
    pub(super) fn moves(&self, sorted: &[usize]) -> Result<Vec<Edge>, OutOfMemory> {
        let mut places = Vec::new();
        places.try_exact_room(self.size)?;
        places.resize(self.size, 0);
        for (place, &layer) in sorted.iter().enumerate() {
            places[layer] = place;
        }
        let mut lowest = 0;
        let mut moves = Vec::new();
        for &layer in sorted {
            lowest = lowest.max(layer);
            if lowest == layer {
                continue;
            }
            let above = self.edges.iter().filter(|edge| edge.below == layer);
            if let Some(edge) = above.max_by_key(|edge| places[edge.above]) {
                moves.try_push(*edge)?;
            }
        }
        Ok(moves)
    }
}
