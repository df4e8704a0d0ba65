//! The heap on a system where tests cannot replace it. `left_out.txt` has the reason.

use super::Vk;

/// The requests that the allocator refuses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// The n-th.
    Only(usize),
    /// The n-th request and all later ones.
    From(usize),
    /// Each request for more bytes than this.
    Above(usize),
    /// The n-th of the requests that the library's emergency pool cannot serve.
    Large(usize),
    /// The n-th opening of a file or folder fails, because the system has no memory.
    Opening(usize),
}

/// The heap of the library under test. On this system, no value of this type exists.
pub struct Heap(());

impl Heap {
    /// Fails, because this system has no such heap.
    pub fn of(_: &Vk) -> Self {
        panic!("requests of the library cannot be refused on this system")
    }

    /// Unreachable, because no heap exists here.
    pub fn refuse(&self, _: Refusal) {
        unreachable!("there is no heap")
    }

    /// Unreachable, because no heap exists here.
    pub fn refuse_none(&self) {
        unreachable!("there is no heap")
    }

    /// Unreachable, because no heap exists here.
    pub fn count(&self) -> usize {
        unreachable!("there is no heap")
    }

    /// Unreachable, because no heap exists here.
    pub fn large(&self) -> usize {
        unreachable!("there is no heap")
    }

    /// Unreachable, because no heap exists here.
    pub fn openings_after_refusal(&self) -> usize {
        unreachable!("there is no heap")
    }

    /// Unreachable, because no heap exists here.
    pub fn openings(&self) -> usize {
        unreachable!("there is no heap")
    }

    /// Unreachable, because no heap exists here.
    pub fn live(&self) -> isize {
        unreachable!("there is no heap")
    }
}
