//! A system where no case comes between the library and its heap: `left_out.txt` has the reason.

use super::Vk;

/// Which requests are refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// The n-th.
    Only(usize),
    /// The n-th and all after it.
    From(usize),
    /// Each that asks for more bytes.
    Above(usize),
    /// The n-th opening of a file or folder: the system has no memory for it.
    Opening(usize),
}

/// The heap of the library under test, which nobody has here.
pub struct Heap(());

impl Heap {
    /// Fails.
    pub fn of(_: &Vk) -> Self {
        panic!("requests of the library cannot be refused on this system")
    }

    /// As there is no heap.
    pub fn refuse(&self, _: Refusal) {
        unreachable!("there is no heap")
    }

    /// As there is no heap.
    pub fn refuse_none(&self) {
        unreachable!("there is no heap")
    }

    /// As there is no heap.
    pub fn count(&self) -> usize {
        unreachable!("there is no heap")
    }

    /// As there is no heap.
    pub fn openings(&self) -> usize {
        unreachable!("there is no heap")
    }

    /// As there is no heap.
    pub fn live(&self) -> isize {
        unreachable!("there is no heap")
    }
}
