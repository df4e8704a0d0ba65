//! Tests that creation, destruction and enumeration run on one thread at a time in the whole process, and that this thread can call them
//! again (DRV-118, DRV-168, APP-140, APP-270).

use std::alloc::Layout;
use std::ffi::c_void;
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::thread;
use std::time::Duration;

use loader_tests::ash::vk;
use loader_tests::vk::{Commands, Instance, Messages, Reports, Shared};
use loader_tests::{Scene, Vk, call, case};

use crate::kit::{Layer, place};

const THREADS: usize = 6;
const EXTENSIONS: [&str; 4] = [
    "VK_EXT_debug_report",
    "VK_EXT_debug_utils",
    "VK_EXT_headless_surface",
    "VK_KHR_surface",
];

/// Adds two drivers that end the process if two threads run creation, destruction or enumeration at the same time.
fn drivers(scene: &mut Scene) {
    scene.usual_driver("a").flag("exclusive");
    scene.usual_driver("b").flag("exclusive");
    scene.env("VK_LOADER_DEBUG", "").limit(60);
}

/// Makes a layer end the process if two threads run creation, destruction or enumeration at the same time.
fn exclusive(layer: Layer) -> Layer {
    layer
        .conf("exclusive", "")
        .conf("devices", "as-they-are")
        .conf("device-extension", "VK_MOCK_own 1")
}

fn instance(vk: &Vk) -> Instance<'_> {
    vk.instance_with("1.1", &EXTENSIONS)
}

/// Calls all commands that the loader must run on one thread at a time.
fn round(vk: &Vk) {
    let instance = instance(vk);
    let (messages, reports) = (Messages::default(), Reports::default());
    let messenger = instance.messenger(&messages);
    let callback = instance.report_callback(&reports);
    for physical in instance.devices().expect("devices") {
        assert!(!instance.device_extensions(physical).expect("extensions").is_empty());
        let device = instance.device(physical, &["VK_KHR_swapchain"]);
        device.queue(0, 0);
    }
    assert!(instance.groups().expect("groups").len() >= 2);
    report(&instance);
    instance.destroy_report_callback(callback);
    instance.destroy_messenger(messenger);
}

/// Sends a message to the report callbacks of the instance and its drivers.
fn report(instance: &Instance<'_>) {
    call!(
        instance,
        PFN_vkDebugReportMessageEXT(
            instance.raw,
            vk::DebugReportFlagsEXT::ERROR,
            vk::DebugReportObjectTypeEXT::INSTANCE,
            0,
            0,
            0,
            c"".as_ptr(),
            c"text".as_ptr()
        )
    );
}

/// Runs `body` on several threads at the same time.
fn on_threads(body: impl Fn() + Sync) {
    thread::scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(&body);
        }
    });
}

/// DRV-118, DRV-168, APP-140, APP-270: two threads never run creation, destruction or enumeration in layers or drivers at the same time.
#[test]
fn drv_168_layers_and_drivers_are_called_one_thread_at_a_time() {
    case(|scene| {
        drivers(scene);
        place(
            scene,
            &[
                exclusive(Layer::implicit("i")),
                exclusive(Layer::implicit("j").conf("wrap", "")),
            ],
        );
        scene.run(|vk| on_threads(|| (0..6).for_each(|_| round(vk)))).ok();
    });
}

/// DRV-168: without layers, only one thread at a time calls drivers.
#[test]
fn drv_168_drivers_are_called_one_thread_at_a_time() {
    case(|scene| {
        drivers(scene);
        scene.run(|vk| on_threads(|| (0..6).for_each(|_| round(vk)))).ok();
    });
}

/// LAY-245, DRV-168: during a call that holds the gate, the loader's lock for creation, destruction and enumeration, a layer can call the
/// loader again. The layer can use exported functions and the functions of the next layer.
#[test]
fn lay_245_a_layer_comes_back_into_what_runs_one_thread_at_a_time() {
    case(|scene| {
        drivers(scene);
        place(
            scene,
            &[
                exclusive(
                    Layer::implicit("i")
                        .conf("own-instance", "")
                        .conf("reenter", "vkCreateInstance"),
                ),
                exclusive(Layer::implicit("j").conf("probe", "").conf("extra-devices", 1)),
            ],
        );
        let outcome = scene.run(|vk| (0..3).for_each(|_| round(vk)));
        outcome.ok();
        assert!(
            outcome
                .journal()
                .iter()
                .any(|line| line.contains("own-instance result=0"))
        );
    });
}

/// DRV-168, APP-190, APP-192: callbacks of messengers and report callbacks also run on one thread at a time, for all instances.
#[test]
fn drv_168_messages_are_delivered_one_thread_at_a_time() {
    static INSIDE: AtomicBool = AtomicBool::new(false);
    case(|scene| {
        scene.usual_driver("a");
        scene.env("VK_LOADER_DEBUG", "").limit(60);
        let outcome = scene.run(|vk| {
            on_threads(|| {
                let messages = Messages::with_hook(|_| {
                    assert!(!INSIDE.swap(true, Ordering::SeqCst), "another thread is within");
                    thread::sleep(Duration::from_micros(100));
                    INSIDE.store(false, Ordering::SeqCst);
                });
                let instance = instance(vk);
                let messenger = instance.messenger(&messages);
                for _ in 0..10 {
                    submit(&instance);
                    report(&instance);
                }
                instance.destroy_messenger(messenger);
                assert!(messages.with("text").len() >= 10);
            });
        });
        outcome.ok();
    });
}

/// Sends a message to the messengers of the instance.
fn submit(instance: &Instance<'_>) {
    let data = vk::DebugUtilsMessengerCallbackDataEXT::default().message(c"text");
    call!(
        instance,
        PFN_vkSubmitDebugUtilsMessageEXT(
            instance.raw,
            vk::DebugUtilsMessageSeverityFlagsEXT::ERROR,
            vk::DebugUtilsMessageTypeFlagsEXT::GENERAL,
            &data
        )
    );
}

/// DRV-168: surfaces are created on one thread at a time. This call reaches no driver, so the test observes the application's callbacks.
#[test]
fn drv_168_surfaces_are_made_one_thread_at_a_time() {
    static INSIDE: AtomicBool = AtomicBool::new(false);
    static CALLS: AtomicU32 = AtomicU32::new(0);
    static WATCHED: AtomicBool = AtomicBool::new(false);
    /// Number of bytes before a block, which is also its alignment.
    const HEAD: usize = 64;

    fn layout(size: usize) -> Layout {
        Layout::from_size_align(HEAD + size, HEAD).expect("a block is not that large")
    }
    unsafe extern "system" fn allocate(
        _: *mut c_void,
        size: usize,
        align: usize,
        _: vk::SystemAllocationScope,
    ) -> *mut c_void {
        if WATCHED.load(Ordering::SeqCst) {
            assert!(!INSIDE.swap(true, Ordering::SeqCst), "another thread is within");
            CALLS.fetch_add(1, Ordering::SeqCst);
            thread::sleep(Duration::from_micros(100));
            INSIDE.store(false, Ordering::SeqCst);
        }
        assert!(align <= HEAD, "more than the head's");
        // SAFETY: the size is not zero. The block has space for the head, which stores the size of the remaining block.
        unsafe {
            let head = std::alloc::alloc(layout(size));
            head.cast::<usize>().write(size);
            head.add(HEAD).cast()
        }
    }
    unsafe extern "system" fn reallocate(
        user: *mut c_void,
        block: *mut c_void,
        size: usize,
        align: usize,
        scope: vk::SystemAllocationScope,
    ) -> *mut c_void {
        // SAFETY: the old block came from `allocate`, and its head stores its size.
        unsafe {
            let moved = allocate(user, size, align, scope);
            if !block.is_null() {
                let old = block.byte_sub(HEAD).cast::<usize>().read();
                ptr::copy_nonoverlapping(block.cast::<u8>(), moved.cast(), size.min(old));
                release(user, block);
            }
            moved
        }
    }
    unsafe extern "system" fn release(_: *mut c_void, block: *mut c_void) {
        if !block.is_null() {
            let head = block.cast::<u8>().wrapping_sub(HEAD);
            // SAFETY: the block came from `allocate`, and its head stores its size.
            unsafe { std::alloc::dealloc(head, layout(head.cast::<usize>().read())) };
        }
    }

    case(|scene| {
        scene.usual_driver("a");
        scene.env("VK_LOADER_DEBUG", "").limit(60);
        let outcome = scene.run(|vk| {
            let callbacks = vk::AllocationCallbacks {
                pfn_allocation: Some(allocate),
                pfn_reallocation: Some(reallocate),
                pfn_free: Some(release),
                ..Default::default()
            };
            let mut raw = vk::Instance::null();
            let names = EXTENSIONS.map(|name| std::ffi::CString::new(name).expect("no zero"));
            let names = [names[2].as_ptr(), names[3].as_ptr()];
            let info = vk::InstanceCreateInfo::default().enabled_extension_names(&names);
            let result = call!(vk, PFN_vkCreateInstance(&info, &callbacks, &mut raw));
            assert_eq!(result, vk::Result::SUCCESS);
            WATCHED.store(true, Ordering::SeqCst);
            let shared = Shared(raw);
            on_threads(|| {
                let raw = *shared.get();
                for _ in 0..10 {
                    let mut surface = vk::SurfaceKHR::null();
                    let info = vk::HeadlessSurfaceCreateInfoEXT::default();
                    let create: vk::PFN_vkCreateHeadlessSurfaceEXT =
                        // SAFETY: the address belongs to the named command, which has this type.
                        unsafe { std::mem::transmute(vk.get(raw, "vkCreateHeadlessSurfaceEXT")) };
                    // SAFETY: the instance is valid, and the structures are valid.
                    let result = unsafe { create(raw, &info, ptr::null(), &mut surface) };
                    assert_eq!(result, vk::Result::SUCCESS);
                    call!(vk, PFN_vkDestroySurfaceKHR(raw, surface, ptr::null()));
                }
            });
            WATCHED.store(false, Ordering::SeqCst);
            assert!(CALLS.load(Ordering::SeqCst) >= 60);
            call!(vk, PFN_vkDestroyInstance(raw, &callbacks));
        });
        outcome.ok();
    });
}

/// APP-270: while a thread holds the gate, the loader's lock for creation, destruction and enumeration, commands that do not need this lock
/// still return.
#[test]
fn app_270_other_commands_pass_while_a_thread_is_within() {
    case(|scene| {
        scene.usual_driver("a");
        let outcome = scene.run(|vk| {
            let shown = instance(vk);
            let physical = shown.first();
            let device = shown.device(physical, &["VK_KHR_swapchain"]);
            let surface = shown.headless_surface();
            let shared = Shared((&shown, &device));
            let done = AtomicU32::new(0);
            thread::scope(|scope| {
                let (other, done) = (vk.again(), &done);
                let messages = Messages::with_hook({
                    let done = Shared(ptr::from_ref(done));
                    // SAFETY: the counter exists longer than the messenger.
                    move |_| wait_for(unsafe { &**done.get() }, 2)
                });
                let messenger = shown.messenger(&messages);
                done.store(1, Ordering::SeqCst);
                scope.spawn(move || {
                    let (shown, device) = *shared.get();
                    other.extensions().expect("the query succeeds");
                    other.layers().expect("the query succeeds");
                    other.version();
                    assert_ne!(other.get(shown.raw, "vkCreateDevice"), 0);
                    assert_ne!(device.address("vkCmdDraw"), 0);
                    assert!(!shown.name_of(physical).is_empty());
                    assert_eq!(shown.surface_support(physical, surface), Ok(true));
                    let pool = device.pool();
                    let buffers = device.command_buffers(pool, 1).expect("command buffers");
                    device.free_command_buffers(pool, &buffers);
                    device.destroy_pool(pool);
                    done.store(2, Ordering::SeqCst);
                });
                submit(&shown);
                shown.destroy_messenger(messenger);
            });
            shown.destroy_surface(surface);
        });
        outcome.ok();
    });
}

fn wait_for(counter: &AtomicU32, value: u32) {
    while counter.load(Ordering::SeqCst) < value {
        thread::yield_now();
    }
}

/// DRV-168: if a thread is cancelled inside a driver, the thread finishes its call and releases the gate, the loader's lock.
#[cfg(unix)]
#[test]
fn drv_168_a_thread_that_is_cancelled_in_a_driver_leaves_the_gate() {
    struct Work<'a> {
        vk: &'a Vk,
        begun: AtomicBool,
    }
    extern "C" fn create_and_destroy(work: *mut c_void) -> *mut c_void {
        // SAFETY: the test passes a valid pointer to this thread, and waits until this thread ends.
        let work = unsafe { &*work.cast::<Work<'_>>() };
        let mut instance = vk::Instance::null();
        let info = vk::InstanceCreateInfo::default();
        work.begun.store(true, Ordering::SeqCst);
        let result = call!(work.vk, PFN_vkCreateInstance(&info, ptr::null(), &mut instance));
        assert_eq!(result, vk::Result::SUCCESS);
        call!(work.vk, PFN_vkDestroyInstance(instance, ptr::null()));
        ptr::null_mut()
    }
    case(|scene| {
        drivers(scene);
        let outcome = scene.run(|vk| {
            for _ in 0..20 {
                let work = Work {
                    vk,
                    begun: AtomicBool::new(false),
                };
                // SAFETY: in this C library, the value is a number or a pointer, and the next call writes it before it is read.
                let mut thread: libc::pthread_t = unsafe { std::mem::zeroed() };
                let argument = ptr::from_ref(&work).cast_mut().cast();
                // SAFETY: the test joins the thread, and the argument exists longer than the thread.
                let failed = unsafe { libc::pthread_create(&mut thread, ptr::null(), create_and_destroy, argument) };
                assert_eq!(failed, 0);
                while !work.begun.load(Ordering::SeqCst) {
                    thread::yield_now();
                }
                thread::sleep(Duration::from_micros(300));
                // SAFETY: the thread has not been joined yet.
                unsafe { libc::pthread_cancel(thread) };
                drop(vk.instance());
                // SAFETY: the thread is joined only here.
                unsafe { libc::pthread_join(thread, ptr::null_mut()) };
            }
        });
        outcome.ok();
    });
}

#[cfg(not(unix))]
loader_tests::left_out!(drv_168_a_thread_that_is_cancelled_in_a_driver_leaves_the_gate);
