//! Device extensions in the manifests of all layers, for queries that name a layer (APP-132, LAY-324).

use super::device_extension_properties;
use crate::alloc::{HostAllocator, HostText, HostVec};
use crate::generated::types::VkExtensionProperties;
use discovery::env::Environment;
use discovery::journal::{Journal, Silence};
use discovery::layers::{DiscoveredLayers, Extent, discover};
use discovery::search::Search;
use os::SetOnce;
use os::memory::{OutOfMemory, shortage};

/// Name of a layer, and its device extensions.
type NamedExtensions = (HostText, HostVec<VkExtensionProperties>);

/// Device extensions by layer name.
pub(crate) struct LayerExtensionLists {
    found: HostVec<NamedExtensions>,
    /// Extensions of all layers; set if the instance was created without the explicit layers and a caller later asked about an explicit
    /// layer.
    all: SetOnce<HostVec<NamedExtensions>>,
    without_explicit: bool,
}

impl LayerExtensionLists {
    /// Collects the device extensions of the layers that were found.
    ///
    /// # Errors
    /// There is not enough memory.
    pub(crate) fn of(discovered: &DiscoveredLayers, allocator: HostAllocator) -> Result<Self, OutOfMemory> {
        Ok(Self {
            found: by_name(discovered, allocator)?,
            all: SetOnce::new(),
            without_explicit: discovered.without_explicit,
        })
    }

    /// Returns the device extensions of one layer; an empty list if there is no such layer.
    ///
    /// # Errors
    /// There is not enough memory.
    pub(crate) fn of_layer(
        &self,
        name: &[u8],
        allocator: HostAllocator,
    ) -> Result<&[VkExtensionProperties], OutOfMemory> {
        if let Some(extensions) = find(&self.found, name) {
            return Ok(extensions);
        }
        if !self.without_explicit {
            return Ok(&[]);
        }
        let all = match self.all.get() {
            Some(all) => all,
            None => {
                let all = look(allocator)?;
                // If two threads search at once, the list of the first thread is kept.
                self.all.get_or_set(all)
            }
        };
        Ok(find(all, name).unwrap_or_default())
    }
}

fn find<'a>(list: &'a [NamedExtensions], name: &[u8]) -> Option<&'a [VkExtensionProperties]> {
    let found = list.iter().find(|(layer, _)| layer.bytes() == name);
    found.map(|(_, extensions)| &**extensions)
}

/// Looks for the explicit layers that were not needed when the instance was created. Logs nothing, because the creation of the instance
/// logged nothing about these layers either.
fn look(allocator: HostAllocator) -> Result<HostVec<NamedExtensions>, OutOfMemory> {
    let _watch = shortage::watch();
    let mut journal = Journal::of_call(&Silence);
    let layers = discover(Extent::All, &Search::new(&Environment::process()), None, &mut journal)?;
    let all = by_name(&layers, allocator)?;
    shortage::check()?;
    Ok(all)
}

fn by_name(discovered: &DiscoveredLayers, allocator: HostAllocator) -> Result<HostVec<NamedExtensions>, OutOfMemory> {
    let mut all = HostVec::new(allocator);
    for layer in discovered
        .reported()
        .filter(|layer| !layer.device_extensions.is_empty())
    {
        let list = layer.device_extensions.iter().map(device_extension_properties);
        all.try_push((
            HostText::try_new(&layer.name, allocator)?,
            HostVec::try_from_iter(list, allocator)?,
        ))?;
    }
    Ok(all)
}
