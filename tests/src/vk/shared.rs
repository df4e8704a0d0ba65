//! Values that several threads of a test use.

/// Handle, or value with handles, that threads share. Vulkan allows this, but the type system cannot express it.
#[derive(Clone, Copy)]
pub struct Shared<T>(pub T);

// SAFETY: the values are handles, or contain handles. The closures of a test pass them only to functions that any number of threads can
// call at the same time.
unsafe impl<T> Send for Shared<T> {}
// SAFETY: the values are handles, or contain handles. The closures of a test pass them only to functions that any number of threads can
// call at the same time.
unsafe impl<T> Sync for Shared<T> {}

impl<T> Shared<T> {
    /// Returns the value. If a closure accessed the field directly, it would capture only the field, which does not have the guarantees of
    /// this type.
    pub fn get(&self) -> &T {
        &self.0
    }
}
