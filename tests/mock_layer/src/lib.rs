//! A Vulkan layer whose behaviour is chosen at run time.
//!
//! A test copies the library under its own name and writes a manifest that points to the copy. Beside the copy, it writes a text file with
//! the extension `.conf` that configures the layer. The library has four layers. Lines before the first heading `[n]` are for layer 0,
//! lines under `[1]` to `[3]` for the other layers, and lines under `[all]` for every layer. Layer 0 has the usual symbols, layer n has
//! `layernNegotiate`, `layernGetInstanceProcAddr` and `layernGetDeviceProcAddr`, which a manifest names under `functions`.
//!
//! | line | effect |
//! |---|---|
//! | `name TEXT` | name in the journal, and layer name for which `vkEnumerateDeviceExtensionProperties` returns the layer's extensions |
//! | `journal PATH` | file for events, one line each: the name, then the event |
//! | `lookups` | record every name that is passed to the three look-up functions |
//! | `negotiate N` | interface version to return (default 2) |
//! | `negotiate-result N` | result of the negotiation |
//! | `negotiate-null P` | leave `gipa`, `gdpa` or `gpdpa` NULL |
//! | `negotiate-identity N` | return the pointers of another layer of the library |
//! | `late-lookup` | look up the next function at every call; without this line, the layer stores its first results |
//! | `through-instance NAME` | look up the next function for a device command with the next `vkGetInstanceProcAddr` |
//! | `answer-null NAME` | return NULL in the look-up of a command |
//! | `intercept NAME` | record each call of a command |
//! | `fail NAME N` | return a result without a call of the next function; 0 for success |
//! | `fail-after NAME N` | `vkCreateInstance`, `vkCreateDevice`: call the next function, then return a result |
//! | `retry NAME` | `vkCreateInstance`, `vkCreateDevice`, in the last layer: call the next function again; if the first call succeeded, destroy its object before |
//! | `retries N` | number of repetitions of `retry vkCreateInstance` (default 1) |
//! | `wrap` | wrap every dispatchable object |
//! | `api-version N` | pass another application version to the next function |
//! | `add-instance-extension NAME`, `add-device-extension NAME` | add an extension for the next function |
//! | `remove-instance-extension NAME`, `remove-device-extension NAME` | remove an extension for the next function |
//! | `clobber instance`, `clobber device` | overwrite the handle before the next function is called; with `-null` appended, the value is NULL |
//! | `ask NAME` | call both look-up functions of the next layer, with and without an instance, after a successful `vkCreateInstance` |
//! | `call-globals` | look up the three global queries in the next layer without an instance, call them, and record the results |
//! | `ask-device NAME` | look up a command of the next layer after a successful `vkCreateDevice`, directly and through the looked-up `vkGetDeviceProcAddr` |
//! | `hand-on NAME` | pass a call of a device command on with an object of the layer in place of the device |
//! | `keep-nodes` | use the loader's structures again after the next function has returned |
//! | `stray-parent` | call the data callbacks with an object of an instance or device that does not exist |
//! | `exclusive` | end the process if creation, destruction or enumeration runs on two threads at the same time |
//! | `probe` | use the new object in `vkCreateInstance` and `vkCreateDevice` after the next function has succeeded |
//! | `reenter NAME` | call the loader's exported functions in a command |
//! | `own-instance` | create an instance through the loader in `vkCreateInstance` |
//! | `extra-devices N`, `instance-devices N` | create devices through the callback, in `vkCreateDevice` or `vkCreateInstance` |
//! | `devices reverse`, `devices drop-first` | change the list of physical devices |
//! | `devices reverse-old` | reverse the list of physical devices for an application that asks for Vulkan 1.0 |
//! | `devices overstate` | report the largest possible number if a query asks only for the number of devices or groups |
//! | `devices incomplete` | return `VK_INCOMPLETE` with each list of groups |
//! | `devices late` | report no devices in the first query for their number |
//! | `device-extension NAME N` | report a device extension as the layer's own |
//! | `advertise` | report the layer's device extensions in the list without a layer name too |
//! | `own-instance-command NAME`, `own-physical-command NAME`, `own-device-command NAME` | implement a command; `*` at the end matches any text |
//! | `own-device-only` | return own commands only in `vkGetDeviceProcAddr` and `vk_layerGetPhysicalDeviceProcAddr` |
//! | `own-result N` | result of an own command, to which its argument is added |
//! | `pre-version N`, `pre-layer NAME`, `pre-extension NAME`, `pre-grow`, `pre-fail N` | results of the pre-instance functions |

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
