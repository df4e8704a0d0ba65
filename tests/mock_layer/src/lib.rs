//! A Vulkan layer whose behaviour is chosen at run time.
//!
//! A test copies the library under its own name and writes a manifest that points to the copy. Beside the copy, it writes a text file with
//! the extension `.conf` that configures the layer. The library has four layers. Lines before the first `[n]` head are for layer 0, lines
//! under `[1]` to `[3]` for the other layers, and lines under `[all]` for every layer. Layer 0 has the usual symbols, layer n has
//! `layernNegotiate`, `layernGetInstanceProcAddr` and `layernGetDeviceProcAddr`, which a manifest names under `functions`.
//!
//! | line | effect |
//! |---|---|
//! | `name TEXT` | the name in the journal; the layer name it answers `vkEnumerateDeviceExtensionProperties` for |
//! | `journal PATH` | where to record events, one line each: the name, then the event |
//! | `lookups` | record every name asked of the three look-up functions |
//! | `negotiate N` | the interface version to answer (default 2) |
//! | `negotiate-result N` | the result of the negotiation |
//! | `negotiate-null P` | leave `gipa`, `gdpa` or `gpdpa` NULL |
//! | `negotiate-identity N` | give the pointers of another layer of the library |
//! | `late-lookup` | ask the entity below at every call, where a layer usually keeps its first answers |
//! | `through-instance NAME` | find the way down for a device command in the next `vkGetInstanceProcAddr` |
//! | `answer-null NAME` | answer NULL for a command |
//! | `intercept NAME` | record each call of a command |
//! | `fail NAME N` | return a result without calling down; 0 for success |
//! | `fail-after NAME N` | `vkCreateInstance`, `vkCreateDevice`: call down, then return a result |
//! | `retry NAME` | `vkCreateInstance`, `vkCreateDevice`, for the lowest layer: call down once more, after a failure with what came from above, after a success when what came up was destroyed |
//! | `retries N` | how often `retry vkCreateInstance` does so (default 1) |
//! | `wrap` | wrap every dispatchable object |
//! | `api-version N` | change the application's version on the way down |
//! | `add-instance-extension NAME`, `add-device-extension NAME` | ask for one more on the way down |
//! | `remove-instance-extension NAME`, `remove-device-extension NAME` | take one out on the way down |
//! | `clobber instance`, `clobber device` | overwrite the handle before calling down; with `-null` after it, by NULL |
//! | `ask NAME` | ask both look-ups below, with and without an instance, after `vkCreateInstance` succeeded |
//! | `call-globals` | call the three global queries that the look-up below answers without an instance, and record what they say |
//! | `ask-device NAME` | ask the look-up below for a command after `vkCreateDevice` succeeded, and through that look-up what it answers for itself |
//! | `hand-on NAME` | pass a call of a device command on with an object of the layer's own in place of the device |
//! | `keep-nodes` | use the loader's nodes again after the call below returned |
//! | `stray-parent` | offer the data callbacks an object of an instance or device that does not exist |
//! | `exclusive` | end the process when creation, destruction or enumeration runs on two threads at once |
//! | `probe` | call down inside `vkCreateInstance` and `vkCreateDevice` after they succeeded |
//! | `reenter NAME` | call the loader's exports inside a command |
//! | `own-instance` | make an instance through the loader inside `vkCreateInstance` |
//! | `extra-devices N`, `instance-devices N` | make devices by the callback, in `vkCreateDevice` or `vkCreateInstance` |
//! | `devices reverse`, `devices drop-first` | change the list of physical devices |
//! | `devices overstate` | claim the most that a number can say when devices or groups are only counted |
//! | `devices late` | claim none when devices are counted for the first time |
//! | `device-extension NAME N` | report a device extension as the layer's own |
//! | `advertise` | report the layer's device extensions in the general list too |
//! | `own-instance-command NAME`, `own-physical-command NAME`, `own-device-command NAME` | implement a command; a `*` at the end matches any rest |
//! | `own-device-only` | answer for own commands in `vkGetDeviceProcAddr` and `vk_layerGetPhysicalDeviceProcAddr` only |
//! | `own-result N` | what such a command returns, plus its argument |
//! | `pre-version N`, `pre-layer NAME`, `pre-extension NAME`, `pre-grow`, `pre-fail N` | what the pre-instance functions do |

mod abi;
mod config;
mod device;
#[path = "../../mock_driver/src/exclusive.rs"]
mod exclusive;
mod extensions;
mod inquire;
mod instance;
mod journal;
mod layer;
mod lookup;
mod negotiate;
mod own;
mod physical;
mod pre_instance;
mod reenter;
#[path = "../../mock_driver/src/system/mod.rs"]
mod system;
mod thunk;
mod wrap;

/// Records that the library was loaded into the process (LAY-6, LAY-201).
extern "C" fn loaded() {
    layer::layer(0).journal("loaded");
}

/// Records that the library is being unloaded, and frees its data.
extern "C" fn unloaded() {
    layer::layer(0).journal("unloaded");
    layer::forget();
    thunk::forget();
}

system::at_load_and_unload!(loaded, unloaded);
