//! Replacement for the module `heap` on a system where tests cannot replace the library's imports. `windows/left_out.txt` contains the
//! reason.

use super::Vk;

/// Requests that the heap refuses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// The request with this number.
    Only(usize),
    /// The request with this number, and all later requests.
    From(usize),
    /// Each request for more bytes than this number.
    Above(usize),
    /// The request with this number, among those that the library's emergency pool cannot serve.
    Large(usize),
    /// The attempt with this number to open a file or folder, as if the system had no memory.
    Opening(usize),
}

/// The heap of the library under test. On this system, no value of this type exists.
pub struct Heap(());

impl Heap {
    /// Fails, because tests cannot replace the heap on this system.
    pub fn of(_: &Vk) -> Self {
        panic!("requests of the library cannot be refused on this system")
    }

    /// Never called, because no value of this type exists here.
    pub fn refuse(&self, _: Refusal) {
        unreachable!("there is no heap")
    }

    /// Never called, because no value of this type exists here.
    pub fn refuse_none(&self) {
        unreachable!("there is no heap")
    }

    /// Never called, because no value of this type exists here.
    pub fn count(&self) -> usize {
        unreachable!("there is no heap")
    }

    /// Never called, because no value of this type exists here.
    pub fn large(&self) -> usize {
        unreachable!("there is no heap")
    }

    /// Never called, because no value of this type exists here.
    pub fn openings_after_refusal(&self) -> usize {
        unreachable!("there is no heap")
    }

    /// Never called, because no value of this type exists here.
    pub fn openings(&self) -> usize {
        unreachable!("there is no heap")
    }

    /// Never called, because no value of this type exists here.
    pub fn live(&self) -> isize {
        unreachable!("there is no heap")
    }
}
