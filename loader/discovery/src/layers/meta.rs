//! Finds the meta-layers that can be built from the existing layers (LAY-160 to LAY-164).
//!
//! Meta-layers may contain each other. The search is depth-first, with an explicit stack. Each meta-layer is visited only once, even if the
//! meta-layers form a long chain or share components.

use super::decide;
use crate::index::{Key, NameIndex};
use crate::journal::reason::LayerListReason;
use crate::journal::{Journal, LogBits, Verdict};
use crate::manifest::LayerManifest;
use crate::manifest::layer::{DeviceExtension, InstanceExtension, LayerBody};
use crate::text::Text;
use alloc::vec::Vec;
use core::mem::take;
use os::memory::{Grow, OutOfMemory};
use promises::limits::MAX_TAKEN_OVER;

/// State of a layer in the search for meta-layers that can be built.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Unseen,
    /// A meta-layer whose components are being checked.
    Open,
    Valid,
    Invalid,
}

/// A meta-layer on the current path of the search.
#[derive(Clone, Copy, Debug)]
struct Visit {
    layer: usize,
    next_component: usize,
}

/// Next step of the search after a component was checked.
enum Step {
    /// The component is valid, so the next component follows.
    Next,
    /// The component is the meta-layer with this index, which must be checked first.
    Enter(usize),
    Invalid(LayerListReason),
}

/// Removes invalid meta-layers. Adds the extensions of the components to the remaining meta-layers.
///
/// # Errors
/// Memory ran out.
pub(super) fn validate(layers: &mut Vec<LayerManifest>, journal: &mut Journal<'_>) -> Result<(), OutOfMemory> {
    if layers.iter().all(|layer| layer.components().is_none()) {
        return Ok(());
    }
    let mut states = Vec::new();
    states.try_exact_room(layers.len())?;
    states.resize(layers.len(), State::Unseen);
    let mut validation = Validation {
        names: ByName::of(layers)?,
        layers,
        states,
        left: MAX_TAKEN_OVER,
    };
    for layer in 0..validation.layers.len() {
        if validation.layers[layer].components().is_some() && validation.states[layer] == State::Unseen {
            validation.visit(layer, journal)?;
        }
    }
    let mut states = validation.states.into_iter();
    layers.retain(|_| states.next() != Some(State::Invalid));
    Ok(())
}

/// Lists of the layers that have the same name, in the original order.
struct ByName {
    /// Hash index of the last layer with each name. The position of that layer is the index of the name in `first`.
    last: NameIndex,
    /// For each name, at the position in `last`: the first layer with that name that may still be valid.
    first: Vec<Option<usize>>,
    /// For each layer: the next layer with the same name.
    next: Vec<Option<usize>>,
}

impl ByName {
    fn of(layers: &[LayerManifest]) -> Result<Self, OutOfMemory> {
        let mut names = Self {
            last: NameIndex::with_room(layers.len())?,
            first: Vec::new(),
            next: Vec::new(),
        };
        for links in [&mut names.first, &mut names.next] {
            links.try_exact_room(layers.len())?;
            links.resize(layers.len(), None);
        }
        for (place, layer) in layers.iter().enumerate().rev() {
            let key = Key::of(&[&layer.name]);
            let last = match names.last.find(key, |known| layers[known].name == layer.name) {
                Some(last) => last,
                None => {
                    names.last.add(key, place)?;
                    place
                }
            };
            names.next[place] = names.first[last].replace(place);
        }
        Ok(names)
    }
}

struct Validation<'l> {
    layers: &'l mut [LayerManifest],
    states: Vec<State>,
    names: ByName,
    /// Number of extensions of components that the search may still check.
    left: usize,
}

impl Validation<'_> {
    fn visit(&mut self, root: usize, journal: &mut Journal<'_>) -> Result<(), OutOfMemory> {
        let mut path = Vec::new();
        path.try_push(Visit {
            layer: root,
            next_component: 0,
        })?;
        self.states[root] = State::Open;
        while let Some(top) = path.last_mut() {
            let layer = top.layer;
            if self.layers[layer].components().unwrap_or_default().len() == top.next_component {
                self.accept(layer, journal)?;
                path.pop();
                continue;
            }
            match self.check(layer, top.next_component) {
                Step::Next => top.next_component += 1,
                Step::Enter(nested) => {
                    self.states[nested] = State::Open;
                    path.try_push(Visit {
                        layer: nested,
                        next_component: 0,
                    })?;
                }
                Step::Invalid(reason) => {
                    self.reject(layer, reason, journal);
                    path.pop();
                    self.reject_path(&mut path, layer, journal);
                }
            }
        }
        Ok(())
    }

    /// Rejects all meta-layers on the path, because each contains the next meta-layer of the path, and the last meta-layer failed.
    fn reject_path(&mut self, path: &mut Vec<Visit>, mut failed: usize, journal: &mut Journal<'_>) {
        while let Some(Visit { layer, .. }) = path.pop() {
            let component = self.layers[failed].name.clone();
            self.reject(layer, LayerListReason::ComponentInvalid { component }, journal);
            failed = layer;
        }
    }

    /// Returns the first layer called `name` that is not invalid.
    fn present(names: &mut ByName, states: &[State], layers: &[LayerManifest], name: &Text) -> Option<usize> {
        let last = names.last.find(Key::of(&[name]), |known| layers[known].name == *name)?;
        let mut first = names.first[last];
        // An invalid layer stays invalid, so this function removes the layer from the list of layers with this name.
        while let Some(place) = first.filter(|&place| states[place] == State::Invalid) {
            first = names.next[place];
        }
        names.first[last] = first;
        first
    }

    /// Runs the tests of LAY-161 in order, for one component of a meta-layer.
    fn check(&mut self, layer: usize, index: usize) -> Step {
        let layers = &*self.layers;
        let component = &layers[layer].components().unwrap_or_default()[index];
        let Some(found) = Self::present(&mut self.names, &self.states, layers, component) else {
            return Step::Invalid(LayerListReason::ComponentMissing {
                component: component.clone(),
                index,
            });
        };
        let (version, component_version) = (feature(&layers[layer]), feature(&layers[found]));
        if component_version < version {
            return Step::Invalid(LayerListReason::ComponentOlder {
                version,
                index,
                component_version,
            });
        }
        if layers[found].name == layers[layer].name {
            return Step::Invalid(LayerListReason::ListsItself { index });
        }
        match (layers[found].components(), self.states[found]) {
            (None, _) | (_, State::Valid | State::Invalid) => Step::Next,
            (_, State::Unseen) => Step::Enter(found),
            (_, State::Open) => Step::Invalid(LayerListReason::Recursive {
                component: component.clone(),
            }),
        }
    }

    fn reject(&mut self, layer: usize, reason: LayerListReason, journal: &mut Journal<'_>) {
        self.states[layer] = State::Invalid;
        decide(&self.layers[layer], Verdict::Dropped(reason.into()), journal);
        journal.note(
            LogBits::DEBUG,
            format_args!(
                "Removing meta-layer {} from instance layer list since it appears invalid.",
                self.layers[layer].name
            ),
        );
    }

    /// Accepts a meta-layer after all its components have passed.
    fn accept(&mut self, layer: usize, journal: &Journal<'_>) -> Result<(), OutOfMemory> {
        self.states[layer] = State::Valid;
        // The list of components is moved out while the layer changes.
        let LayerBody::Components(components) = &mut self.layers[layer].body else {
            return Ok(());
        };
        let components = take(components);
        let taken_over = self.take_over(layer, &components, journal);
        let name = &self.layers[layer].name;
        journal.note(
            LogBits::INFO | LogBits::LAYER,
            format_args!(
                "Meta-layer \"{name}\" all {} component layers appear to be valid.",
                components.len()
            ),
        );
        for (index, component) in components.iter().enumerate() {
            journal.note(LogBits::LAYER, format_args!("  [{index}] {component}"));
        }
        self.layers[layer].body = LayerBody::Components(components);
        taken_over
    }

    /// Adds the components' extensions to the extensions of a meta-layer.
    fn take_over(&mut self, layer: usize, components: &[Text], journal: &Journal<'_>) -> Result<(), OutOfMemory> {
        let mut instance = index_of(&self.layers[layer].instance_extensions)?;
        let mut device = index_of(&self.layers[layer].device_extensions)?;
        for component in components {
            let Some(found) = Self::present(&mut self.names, &self.states, self.layers, component) else {
                continue;
            };
            // Both indices differ, because a component with the name of the meta-layer did not pass the checks.
            let Ok([meta, part]) = self.layers.get_disjoint_mut([layer, found]) else {
                continue;
            };
            if part.components().is_some() {
                journal.note(
                    LogBits::INFO,
                    format_args!(
                        "verify_meta_layer_component_layers: Adding meta-layer {} which also contains meta-layer \
                         {component}",
                        meta.name
                    ),
                );
            }
            let told = |kind: &str, extension: &Text| {
                journal.note(
                    LogBits::DEBUG,
                    format_args!(
                        "Meta-layer {} component layer {} adding {kind} extension {extension}",
                        meta.name, part.name
                    ),
                );
            };
            let (own, left) = (&mut meta.instance_extensions, &mut self.left);
            add_missing(own, &mut instance, &part.instance_extensions, left, |name| {
                told("instance", name)
            })?;
            let own = &mut meta.device_extensions;
            add_missing(own, &mut device, &part.device_extensions, left, |name| {
                told("device", name)
            })?;
        }
        Ok(())
    }
}

/// Returns the major and minor version of the layer's API version.
fn feature(layer: &LayerManifest) -> (u32, u32) {
    (layer.api_version.major(), layer.api_version.minor())
}

/// An extension that a layer offers.
trait Extension: Sized {
    fn name(&self) -> &Text;

    /// Returns the copy of the extension that a meta-layer lists.
    fn taken_over(&self) -> Result<Self, OutOfMemory>;
}

impl Extension for InstanceExtension {
    fn name(&self) -> &Text {
        &self.name
    }

    fn taken_over(&self) -> Result<Self, OutOfMemory> {
        Ok(Self {
            name: Text::try_new(&self.name)?,
            spec_version: self.spec_version,
        })
    }
}

impl Extension for DeviceExtension {
    fn name(&self) -> &Text {
        &self.name
    }

    fn taken_over(&self) -> Result<Self, OutOfMemory> {
        Ok(Self {
            name: Text::try_new(&self.name)?,
            spec_version: self.spec_version,
            // Commands outside of the registry are looked up in the layer that adds them, not in a meta-layer that contains the layer.
            entrypoints: Vec::new(),
        })
    }
}

fn index_of(extensions: &[impl Extension]) -> Result<NameIndex, OutOfMemory> {
    let mut index = NameIndex::default();
    for (place, extension) in extensions.iter().enumerate() {
        index.add(Key::of(&[extension.name()]), place)?;
    }
    Ok(index)
}

/// Adds the extensions that are missing in the list. Examines at most `left` extensions.
fn add_missing<E: Extension>(
    own: &mut Vec<E>,
    known: &mut NameIndex,
    added: &[E],
    left: &mut usize,
    tell: impl Fn(&Text),
) -> Result<(), OutOfMemory> {
    for extension in added {
        let Some(rest) = left.checked_sub(1) else {
            return Ok(());
        };
        *left = rest;
        let name = extension.name();
        tell(name);
        let key = Key::of(&[name]);
        if known.find(key, |place| own[place].name() == name).is_none() {
            known.add(key, own.len())?;
            own.try_push(extension.taken_over()?)?;
        }
    }
    Ok(())
}
