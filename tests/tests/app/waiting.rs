//! Tests of allocation callbacks that wait for another thread (APP-196, APP-272). For example, an allocator waits for a lock while another
//! thread with this lock calls Vulkan.

use std::ptr;
use std::sync::mpsc::channel;
use std::thread;

use loader_tests::ash::vk;
use loader_tests::vk::{Allocator, Device, Instance, Messages, Reports, Shared};
use loader_tests::{call, case};

const EXTENSIONS: [&str; 4] = [
    "VK_KHR_surface",
    "VK_EXT_headless_surface",
    "VK_EXT_debug_utils",
    "VK_EXT_debug_report",
];

/// Runs `body`. Every request to `allocator` with a scope that is `chosen` waits until another thread has run `other` once.
fn waiting(
    allocator: &Allocator,
    chosen: fn(vk::SystemAllocationScope) -> bool,
    mut other: impl FnMut() + Send,
    body: impl FnOnce(),
) {
    let (ask, asked) = channel::<()>();
    let (answer, answered) = channel::<()>();
    thread::scope(|scope| {
        scope.spawn(move || {
            while asked.recv().is_ok() {
                other();
                answer.send(()).expect("the allocator waits");
            }
        });
        allocator.hook(move |scope| {
            if chosen(scope) {
                ask.send(()).expect("the thread lives");
                answered.recv().expect("an answer");
            }
        });
        body();
        allocator.unhook();
    });
}

fn submit(instance: &Instance<'_>) {
    let data = vk::DebugUtilsMessengerCallbackDataEXT::default();
    let (severity, kind) = (
        vk::DebugUtilsMessageSeverityFlagsEXT::INFO,
        vk::DebugUtilsMessageTypeFlagsEXT::GENERAL,
    );
    call!(
        instance,
        PFN_vkSubmitDebugUtilsMessageEXT(instance.raw, severity, kind, &data)
    );
}

/// Objects that a thread creates in one round.
type Made = (vk::DebugUtilsMessengerEXT, vk::DebugReportCallbackEXT, vk::SurfaceKHR);

struct Objects<'a> {
    instance: &'a Instance<'a>,
    physical: Vec<vk::PhysicalDevice>,
    messages: &'a Messages,
    reports: &'a Reports,
}

impl Objects<'_> {
    fn make(&self) -> Made {
        let surface = self.instance.headless_surface();
        for device in &self.physical {
            assert_eq!(self.instance.surface_support(*device, surface), Ok(true));
        }
        let messenger = self.instance.messenger(self.messages);
        (messenger, self.instance.report_callback(self.reports), surface)
    }

    fn unmake(&self, (messenger, report, surface): Made) {
        self.instance.destroy_messenger(messenger);
        self.instance.destroy_report_callback(report);
        self.instance.destroy_surface(surface);
    }
}

/// APP-178, APP-179b, APP-196: the tables of messengers, report callbacks and surfaces grow without losing an entry. During the growth,
/// another thread queries and destroys surfaces.
#[test]
fn app_178_tables_grow_while_another_thread_uses_them() {
    case(|scene| {
        scene.usual_driver("a");
        scene.usual_driver("b");
        scene.env("VK_LOADER_DEBUG", "");
        let outcome = scene.run(|vk| {
            let allocator = Allocator::default();
            let (messages, reports) = (Messages::default(), Reports::default());
            let instance = vk
                .spec()
                .extensions(&EXTENSIONS)
                .allocator(&allocator)
                .create()
                .expect("vkCreateInstance");
            let objects = Shared(Objects {
                instance: &instance,
                physical: instance.devices().expect("devices"),
                messages: &messages,
                reports: &reports,
            });
            let mut surfaces: Vec<_> = (0..20).map(|_| instance.headless_surface()).collect();
            let (mut here, mut times) = (Vec::new(), 0);
            let other = || {
                times += 1;
                let objects = objects.get();
                for surface in &surfaces {
                    for device in &objects.physical {
                        assert_eq!(objects.instance.surface_support(*device, *surface), Ok(true));
                    }
                }
                if let Some(surface) = surfaces.pop() {
                    objects.instance.destroy_surface(surface);
                }
            };
            // The loader uses the instance scope only for tables.
            let table = |scope| scope == vk::SystemAllocationScope::INSTANCE;
            waiting(&allocator, table, other, || {
                here.extend((0..40).map(|_| objects.get().make()));
            });
            assert!(times >= 2, "{times} tables were asked for");
            messages.clear();
            submit(&instance);
            assert_eq!(messages.all().len(), here.len());
            here.into_iter().for_each(|made| objects.get().unmake(made));
            surfaces
                .into_iter()
                .for_each(|surface| instance.destroy_surface(surface));
            instance.destroy();
            assert_eq!(allocator.live(), 0);
        });
        outcome.ok();
    });
}

/// APP-196, APP-270: while a thread creates and destroys an instance and a device, another thread calls functions that never wait.
#[test]
fn app_196_other_threads_get_on_while_memory_is_asked_for() {
    case(|scene| {
        scene.usual_driver("a");
        scene.usual_driver("b");
        scene.env("VK_LOADER_DEBUG", "").limit(60);
        let outcome = scene.run(|vk| {
            let allocator = Allocator::default();
            let messages = Messages::default();
            let info = messages.create_info();
            let beside = vk.instance_with("1.1", &EXTENSIONS);
            let shared = Shared((vk, &beside, beside.first()));
            let other = || {
                let (vk, beside, physical) = shared.get();
                assert!(!beside.name_of(*physical).is_empty());
                assert_ne!(vk.get(beside.raw, "vkCmdDraw"), 0);
                assert!(vk.extensions().expect("the query succeeds").len() > 5);
            };
            waiting(
                &allocator,
                |_| true,
                other,
                || {
                    let spec = vk.spec().api("1.1").extensions(&EXTENSIONS).next(&info);
                    let instance = spec.allocator(&allocator).create().expect("vkCreateInstance");
                    let device = instance.device_spec(instance.first()).allocator(&allocator);
                    drop(device.create().expect("vkCreateDevice"));
                    assert_eq!(instance.groups().expect("groups").len(), 2);
                    call!(instance, PFN_vkDestroyInstance(instance.raw, ptr::null()));
                    std::mem::forget(instance);
                },
            );
            assert_eq!(allocator.live(), 0);
        });
        outcome.ok();
    });
}

/// Uses a device: queries its physical device, then uses its queue and a command buffer.
fn use_device(instance: &Instance<'_>, physical: vk::PhysicalDevice, device: &Device<'_>, queue: vk::Queue) {
    assert!(!instance.name_of(physical).is_empty());
    let mut features = vk::PhysicalDeviceFeatures2::default();
    call!(instance, PFN_vkGetPhysicalDeviceFeatures2(physical, &mut features));
    let mut count = 0;
    call!(
        instance,
        PFN_vkGetPhysicalDeviceQueueFamilyProperties(physical, &mut count, ptr::null_mut())
    );
    let pool = device.pool();
    let buffers = device.command_buffers(pool, 1).expect("vkAllocateCommandBuffers");
    let begin = vk::CommandBufferBeginInfo::default();
    assert_eq!(
        call!(device, PFN_vkBeginCommandBuffer(buffers[0], &begin)),
        vk::Result::SUCCESS
    );
    call!(device, PFN_vkCmdDraw(buffers[0], 3, 1, 0, 0));
    assert_eq!(call!(device, PFN_vkEndCommandBuffer(buffers[0])), vk::Result::SUCCESS);
    let submit = vk::SubmitInfo::default().command_buffers(&buffers);
    assert_eq!(
        call!(device, PFN_vkQueueSubmit(queue, 1, &submit, vk::Fence::null())),
        vk::Result::SUCCESS
    );
    assert_eq!(call!(device, PFN_vkDeviceWaitIdle(device.raw)), vk::Result::SUCCESS);
    device.free_command_buffers(pool, &buffers);
    device.destroy_pool(pool);
}

/// APP-272: calls on a device return while another thread is stopped in the middle of a creation or destruction.
#[test]
fn app_272_a_device_works_while_another_thread_stands_still() {
    case(|scene| {
        scene.usual_driver("a");
        scene.env("VK_LOADER_DEBUG", "").limit(60);
        let outcome = scene.run(|vk| {
            let allocator = Allocator::default();
            let instance = vk.instance_with("1.1", &EXTENSIONS);
            let device = instance.device(instance.first(), &[]);
            let shared = Shared((&instance, instance.first(), &device, device.queue(0, 0)));
            let mut times = 0;
            let other = || {
                let (instance, physical, device, queue) = shared.get();
                use_device(instance, *physical, device, *queue);
                times += 1;
            };
            let body = || {
                let spec = vk.spec().api("1.1").extensions(&EXTENSIONS).allocator(&allocator);
                let second = spec.create().expect("vkCreateInstance");
                let made = second.device_spec(second.first()).allocator(&allocator).create();
                drop(made.expect("vkCreateDevice"));
                second.destroy();
            };
            waiting(&allocator, |_| true, other, body);
            assert!(times > 5, "{times} requests for memory");
            assert_eq!(allocator.live(), 0);
        });
        outcome.ok();
    });
}
