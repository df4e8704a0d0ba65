//! The one lock that is held while layers and drivers run.
//!
//! Layers and drivers in use were only ever called one after the other where the gate is held. Lock order: [`GATE`] comes first;
//! within it, each driver has one gate of its own for making surfaces (DRV-177). No other lock is held across a call into a layer,
//! a driver or an application's callbacks, or while another one is taken: it protects a list for the length of a look-up or an
//! insertion.

use os::ReentrantGate;

/// Held while instances and devices are made and destroyed and devices are listed, with all that layers and drivers do
/// meanwhile, and at the end of the chain by what makes surfaces and by what concerns messengers and report callbacks
/// (DRV-118, DRV-168, APP-140, APP-270). Look-ups, global queries and commands on finished objects never take it.
pub(crate) static GATE: ReentrantGate = ReentrantGate::new();
