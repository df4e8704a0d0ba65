//! Allocation callbacks that count and check requests, and can refuse them.

use std::alloc::{Layout, alloc, dealloc};
use std::collections::HashMap;
use std::ffi::c_void;
use std::ptr;
use std::sync::{Mutex, PoisonError};

use ash::vk;

/// Allocator for `pAllocator` arguments. The process ends if a caller frees or resizes a block of another allocator.
pub struct Allocator {
    callbacks: Box<vk::AllocationCallbacks<'static>>,
    state: Box<Mutex<State>>,
}

#[derive(Default)]
struct State {
    live: HashMap<usize, Layout>,
    /// Number of allocations and growing reallocations so far.
    count: usize,
    /// Number of the request that is refused, counted from 1.
    fail_at: Option<usize>,
    scopes: Vec<vk::SystemAllocationScope>,
    /// Function that each request calls first.
    hook: Option<Box<dyn FnMut(vk::SystemAllocationScope) + Send>>,
}

impl Default for Allocator {
    fn default() -> Self {
        let state = Box::new(Mutex::new(State::default()));
        let callbacks = Box::new(vk::AllocationCallbacks {
            p_user_data: ptr::from_ref(&*state).cast_mut().cast(),
            pfn_allocation: Some(allocate),
            pfn_reallocation: Some(reallocate),
            pfn_free: Some(free),
            pfn_internal_allocation: Some(internal_allocation),
            pfn_internal_free: Some(internal_free),
            ..Default::default()
        });
        Allocator { callbacks, state }
    }
}

impl Allocator {
    /// Creates an allocator that refuses request number `number`, counted from 1.
    pub fn failing_at(number: usize) -> Self {
        let allocator = Allocator::default();
        allocator.fail_at(Some(number));
        allocator
    }

    /// Creates an allocator without a reallocation callback, like the allocators of some programs.
    pub fn without_reallocation() -> Self {
        Self::with(|callbacks| callbacks.pfn_reallocation = None)
    }

    /// Creates an allocator with changed callbacks, for example with a missing callback.
    pub fn with(change: impl FnOnce(&mut vk::AllocationCallbacks<'static>)) -> Self {
        let mut allocator = Allocator::default();
        change(&mut allocator.callbacks);
        allocator
    }

    /// Returns the callbacks, for a `pAllocator` argument.
    pub fn callbacks(&self) -> *const vk::AllocationCallbacks<'static> {
        &*self.callbacks
    }

    /// Returns the name of this allocator in the mock driver's journal: the user data, and a checksum of the five functions, which depends
    /// on their order.
    pub fn mark(&self) -> String {
        // SAFETY: the structure consists of six pointers, which are all initialized.
        let words: [usize; 6] = unsafe { std::mem::transmute_copy(&*self.callbacks) };
        let [user_data, functions @ ..] = words;
        let sum = functions
            .iter()
            .fold(0, |sum: usize, function| sum.rotate_left(7) ^ function);
        format!("alloc={user_data:#x}/{sum:#x}")
    }

    /// Counts requests from zero, and refuses the request with this number. `None` refuses no request.
    pub fn fail_at(&self, number: Option<usize>) {
        self.locked(|state| (state.count, state.fail_at) = (0, number));
    }

    /// Makes every request call `hook` first. While the hook runs, requests on every thread do not call the hook.
    pub fn hook(&self, hook: impl FnMut(vk::SystemAllocationScope) + Send + 'static) {
        self.locked(|state| state.hook = Some(Box::new(hook)));
    }

    /// Removes the hook. A hook must not call this function.
    pub fn unhook(&self) {
        self.locked(|state| state.hook = None);
    }

    /// Returns the number of requests since the beginning or the last [`fail_at`](Self::fail_at).
    pub fn count(&self) -> usize {
        self.locked(|state| state.count)
    }

    /// Returns the number of blocks that have not been freed.
    pub fn live(&self) -> usize {
        self.locked(|state| state.live.len())
    }

    /// Returns the scopes of all requests.
    pub fn scopes(&self) -> Vec<vk::SystemAllocationScope> {
        self.locked(|state| state.scopes.clone())
    }

    fn locked<R>(&self, body: impl FnOnce(&mut State) -> R) -> R {
        body(&mut self.state.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// Returns the allocator's state. The user data of a callback is the address of this state.
fn state<'a>(user: *mut c_void) -> std::sync::MutexGuard<'a, State> {
    // SAFETY: the user data are the address of an allocator's state. The state outlives the objects that were created with the allocator.
    unsafe { &*user.cast::<Mutex<State>>() }
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
}

fn run_hook(user: *mut c_void, scope: vk::SystemAllocationScope) {
    let hook = state(user).hook.take();
    if let Some(mut hook) = hook {
        hook(scope);
        state(user).hook = Some(hook);
    }
}

impl State {
    fn request(&mut self, size: usize, align: usize, scope: vk::SystemAllocationScope) -> *mut c_void {
        self.count += 1;
        self.scopes.push(scope);
        if self.fail_at == Some(self.count) || size == 0 {
            return ptr::null_mut();
        }
        let layout = Layout::from_size_align(size, align).expect("requests have a power of two as alignment");
        // SAFETY: the size of the layout is not zero.
        let block = unsafe { alloc(layout) };
        // Fills new memory with bytes other than zero, because the loader must not rely on zeros. SAFETY: the block was just allocated with
        // this size.
        unsafe { block.write_bytes(0xa5, size) };
        self.live.insert(block as usize, layout);
        block.cast()
    }

    fn release(&mut self, block: *mut c_void) {
        if block.is_null() {
            return;
        }
        let Some(layout) = self.live.remove(&(block as usize)) else {
            eprintln!("allocator: {block:p} was not allocated here");
            std::process::abort();
        };
        // SAFETY: the block came from `request` with this layout and has not been freed.
        unsafe { dealloc(block.cast(), layout) };
    }
}

unsafe extern "system" fn allocate(
    user: *mut c_void,
    size: usize,
    align: usize,
    scope: vk::SystemAllocationScope,
) -> *mut c_void {
    run_hook(user, scope);
    state(user).request(size, align, scope)
}

unsafe extern "system" fn reallocate(
    user: *mut c_void,
    original: *mut c_void,
    size: usize,
    align: usize,
    scope: vk::SystemAllocationScope,
) -> *mut c_void {
    run_hook(user, scope);
    let mut state = state(user);
    if size == 0 {
        state.release(original);
        return ptr::null_mut();
    }
    let block = state.request(size, align, scope);
    if !original.is_null() && !block.is_null() {
        let Some(old) = state.live.get(&(original as usize)).copied() else {
            eprintln!("allocator: {original:p} was not allocated here");
            std::process::abort();
        };
        // SAFETY: the two blocks are different, have not been freed, and have at least this size.
        unsafe { ptr::copy_nonoverlapping(original.cast::<u8>(), block.cast(), old.size().min(size)) };
        state.release(original);
    }
    block
}

unsafe extern "system" fn free(user: *mut c_void, block: *mut c_void) {
    state(user).release(block);
}

/// Aborts, because neither the loader nor a mock driver can have allocated executable memory.
unsafe extern "system" fn internal_allocation(
    _user: *mut c_void,
    size: usize,
    _kind: vk::InternalAllocationType,
    _scope: vk::SystemAllocationScope,
) {
    eprintln!("allocator: told of {size} bytes that no driver can have made");
    std::process::abort();
}

/// Aborts, because neither the loader nor a mock driver can have freed executable memory.
unsafe extern "system" fn internal_free(
    _user: *mut c_void,
    size: usize,
    _kind: vk::InternalAllocationType,
    _scope: vk::SystemAllocationScope,
) {
    eprintln!("allocator: told that {size} bytes were freed that no driver can have made");
    std::process::abort();
}
