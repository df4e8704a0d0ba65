//! Pages of memory whose protection a test chooses.

use crate::system::memory;

/// Two pages that can be read and written.
pub struct Pages(*mut u8);

/// Size in bytes of a page. The tests need a system whose own pages are not larger.
const PAGE: usize = 4096;

impl Pages {
    /// Creates two pages.
    #[expect(clippy::new_without_default, reason = "a case asks the system for them")]
    pub fn new() -> Self {
        Self(memory::map(2 * PAGE))
    }

    /// Returns the address of the first page.
    pub fn begin(&self) -> *mut u8 {
        self.0
    }

    /// Returns the size of a page in bytes.
    pub fn size(&self) -> usize {
        PAGE
    }

    /// Makes both pages read-only.
    pub fn close_for_writing(&self) {
        memory::close_for_writing(self.0, 2 * PAGE);
    }

    /// Makes the second page inaccessible.
    pub fn close_second(&self) {
        memory::close(self.0.wrapping_add(PAGE), PAGE);
    }
}

impl Drop for Pages {
    fn drop(&mut self) {
        memory::unmap(self.0, 2 * PAGE);
    }
}
