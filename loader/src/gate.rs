//! The lock under which the loader calls layers and drivers.
//!
//! Existing layers and drivers expect that calls under this lock never overlap. Lock order: [`GATE`] comes first; within it, each driver
//! has its own gate for creating surfaces (DRV-177). No other lock is held across a call into a layer, a driver or an application's
//! callbacks, or while another lock is taken. Each of these other locks protects a list during a look-up or an insertion.

use os::ReentrantGate;

/// Lock that is held during three kinds of work, with everything that layers and drivers do meanwhile (DRV-118, DRV-168, APP-140, APP-270):
///
/// - creating and destroying instances and devices, and listing devices;
/// - creating surfaces, at the end of the chain;
/// - commands for messengers and report callbacks, at the end of the chain.
///
/// Look-ups, global queries and commands on finished objects never take this lock.
pub(crate) static GATE: ReentrantGate = ReentrantGate::new();
