//! Values that several threads of a case use.

/// A handle, or what holds one, that threads share: Vulkan allows it, the type system does not know.
#[derive(Clone, Copy)]
pub struct Shared<T>(pub T);

// SAFETY: the values are handles and what holds them; the closures of a case pass them only to functions that any number of
// threads may call at once.
unsafe impl<T> Send for Shared<T> {}
// SAFETY: the closures of a case only pass the value to functions that any number of threads may call at once.
unsafe impl<T> Sync for Shared<T> {}

impl<T> Shared<T> {
    /// The value. A closure that names the field would capture that alone, and lose what this type says.
    pub fn get(&self) -> &T {
        &self.0
    }
}
