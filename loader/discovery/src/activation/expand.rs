//! Adds layers to the app list and the chain list, and meta-layers with their components (LAY-156, LAY-160, LAY-165 to LAY-167).

use alloc::vec::Vec;

use super::{Activation, ChosenLayer, EnabledBy};
use crate::env::Environment;
use crate::implicit::ImplicitState;
use crate::index::{Key, NameIndex};
use crate::journal::{Journal, LogBits};
use crate::layers::DiscoveredLayers;
use crate::manifest::Names;
use crate::text::Text;
use os::memory::{Grow, OutOfMemory};

const WARN: LogBits = LogBits::WARN.with(LogBits::LAYER);

/// The lists of active layers while layers are being added.
#[derive(Debug)]
pub(super) struct Expansion<'a> {
    list: &'a DiscoveredLayers,
    environment: &'a Environment<'a>,
    overriding: Option<&'a Names>,
    journal: &'a Journal<'a>,
    activation: Activation,
    /// Index of the active layers so far, by name.
    active: NameIndex,
    /// Index of all layers by name; `None` until many names were looked up.
    places: Option<NameIndex>,
    asked: usize,
    metas: Vec<Meta>,
}

/// Upper bound on the look-ups that compare a name with each layer in turn.
const FEW_NAMES: usize = 8;

/// State of a meta-layer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Meta {
    Untouched,
    /// The components of the meta-layer are being added.
    Open,
    /// All components were checked. If no component is missing, the meta-layer was added after its components.
    Closed,
}

/// The progress of a meta-layer whose components are being added.
#[derive(Clone, Copy, Debug)]
struct Frame {
    index: usize,
    next_component: usize,
    complete: bool,
    enabled_by: EnabledBy,
}

impl<'a> Expansion<'a> {
    /// Returns empty lists. `overriding` names the components that are active even if their own variables disable them.
    ///
    /// # Errors
    /// Memory ran out; all methods have the same error.
    pub(super) fn new(
        list: &'a DiscoveredLayers,
        environment: &'a Environment<'a>,
        overriding: Option<&'a Names>,
        journal: &'a Journal<'a>,
    ) -> Result<Self, OutOfMemory> {
        let mut metas = Vec::new();
        metas.try_exact_room(list.layers.len())?;
        metas.resize(list.layers.len(), Meta::Untouched);
        Ok(Self {
            list,
            environment,
            overriding,
            journal,
            activation: Activation::default(),
            active: NameIndex::default(),
            places: None,
            asked: 0,
            metas,
        })
    }

    /// Returns the lists of active layers.
    pub(super) fn finish(self) -> Activation {
        self.activation
    }

    /// Returns the active layers so far, with meta-layers.
    pub(super) fn app(&self) -> &[ChosenLayer] {
        &self.activation.app
    }

    /// Returns `true` if a layer called `name` is active.
    pub(super) fn has(&self, name: &Text) -> bool {
        let known = |place: usize| self.list.layers[self.activation.app[place].index].name == *name;
        self.active.find(Key::of(&[name]), known).is_some()
    }

    /// Returns the index of the first layer called `name`.
    pub(super) fn position(&mut self, name: &[u8]) -> Result<Option<usize>, OutOfMemory> {
        let list = self.list;
        self.asked += 1;
        if self.asked <= FEW_NAMES {
            return Ok(list.position(name));
        }
        let places = match &mut self.places {
            Some(places) => places,
            none => {
                let mut places = NameIndex::with_room(list.layers.len())?;
                for (place, layer) in list.layers.iter().enumerate() {
                    places.add(Key::of(&[&layer.name]), place)?;
                }
                none.insert(places)
            }
        };
        let is = |place: usize| list.layers[place].name == *name;
        Ok(places.find(Key::of(&[name]), is))
    }

    /// Adds a layer, unless a layer with the same name is active. For a meta-layer, also adds its components.
    pub(super) fn add(&mut self, index: usize, enabled_by: EnabledBy) -> Result<(), OutOfMemory> {
        match self.list.layers[index].components() {
            Some(_) => self.add_meta(index, enabled_by),
            None if self.has(&self.list.layers[index].name) => Ok(()),
            None => self.push(index, enabled_by),
        }
    }

    /// Adds a layer even if a layer with the same name is active.
    pub(super) fn add_again(&mut self, index: usize, enabled_by: EnabledBy) -> Result<(), OutOfMemory> {
        match self.list.layers[index].components() {
            Some(_) => self.add_meta(index, enabled_by),
            None => self.push(index, enabled_by),
        }
    }

    fn push(&mut self, index: usize, enabled_by: EnabledBy) -> Result<(), OutOfMemory> {
        let manifest = &self.list.layers[index];
        let layer = ChosenLayer { index, enabled_by };
        self.active.add(Key::of(&[&manifest.name]), self.activation.app.len())?;
        self.activation.app.try_push(layer)?;
        if manifest.components().is_none() {
            self.activation.chain.try_push(layer)?;
        }
        Ok(())
    }

    /// Adds a meta-layer and its components. Uses an explicit stack, because the meta-layers of a settings file may contain each other at
    /// any depth.
    fn add_meta(&mut self, root: usize, enabled_by: EnabledBy) -> Result<(), OutOfMemory> {
        if self.metas[root] != Meta::Untouched {
            return Ok(());
        }
        self.metas[root] = Meta::Open;
        let mut stack = Vec::new();
        stack.try_push(Frame {
            index: root,
            next_component: 0,
            complete: true,
            enabled_by,
        })?;
        while let Some(frame) = stack.last_mut() {
            let components = self.list.layers[frame.index].components().unwrap_or_default();
            if let Some(component) = components.get(frame.next_component) {
                frame.next_component += 1;
                if let Some(nested) = self.add_component(frame, component)? {
                    stack.try_push(nested)?;
                }
                continue;
            }
            let done = *frame;
            stack.pop();
            self.close(done)?;
        }
        Ok(())
    }

    fn close(&mut self, frame: Frame) -> Result<(), OutOfMemory> {
        self.metas[frame.index] = Meta::Closed;
        if frame.complete && !self.has(&self.list.layers[frame.index].name) {
            self.push(frame.index, frame.enabled_by)
        } else {
            Ok(())
        }
    }

    /// Adds one component of a meta-layer. If the component is a meta-layer, returns its frame instead of adding it.
    fn add_component(&mut self, outer: &mut Frame, name: &Text) -> Result<Option<Frame>, OutOfMemory> {
        let Some(index) = self.position(name)? else {
            self.journal.note(
                WARN,
                format_args!(
                    "Failed to find layer name \"{name}\" component layer \"{name}\" to activate (Policy #LLP_LAYER_7)"
                ),
            );
            outer.complete = false;
            return Ok(None);
        };
        let component = &self.list.layers[index];
        let filters = &self.list.filters;
        if filters.disables(name, component.implicit) && !filters.enables(name) {
            let meta = &self.list.layers[outer.index].name;
            let message = format_args!("Meta Layer \"{meta}\" component layer \"{name}\" disabled.");
            self.journal.note(WARN, message);
            return Ok(None);
        }
        if component.implicit {
            let state = ImplicitState::of(component, self.environment, filters, self.overriding);
            state.note(component, self.journal);
            if !state.active {
                return Ok(None);
            }
        }
        if component.components().is_none() {
            self.add(index, EnabledBy::MetaLayer)?;
            return Ok(None);
        }
        Ok(self.enter(index))
    }

    fn enter(&mut self, index: usize) -> Option<Frame> {
        match self.metas[index] {
            Meta::Untouched => {
                self.metas[index] = Meta::Open;
                return Some(Frame {
                    index,
                    next_component: 0,
                    complete: true,
                    enabled_by: EnabledBy::MetaLayer,
                });
            }
            Meta::Open => self.journal.note(
                WARN,
                format_args!(
                    "loader_add_meta_layer: Meta-layer {} recursively references itself through its component layers. \
                     Skipping the recursive reference.",
                    self.list.layers[index].name
                ),
            ),
            Meta::Closed => {}
        }
        None
    }
}
