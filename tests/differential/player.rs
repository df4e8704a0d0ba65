//! Runs the program of a scene. Each line is a step: a word with arguments. The program writes results into the journal, between the calls
//! that drivers and layers record.

mod debug;

use std::fmt::{Debug, Display};
use std::ptr;

use loader_tests::ash::vk::{self, Handle};
use loader_tests::vk::{Allocator, Commands, Messages, Reports, fill_some, text, two_call};
use loader_tests::{Vk, call};

use crate::queries;
use crate::stage::commands;

/// Calls a command if the instance has it. Otherwise writes this fact into the journal, and returns `None`.
macro_rules! attempt {
    ($player:expr, $pfn:ident($($argument:expr),* $(,)?)) => {{
        let name = stringify!($pfn).trim_start_matches("PFN_");
        match $player.address(name) {
            0 => $player.note(name, "is not answered"),
            _ => Some(loader_tests::call!($player, $pfn($($argument),*))),
        }
    }};
}
pub(crate) use attempt;

/// State of the program during its steps.
pub(crate) struct Player<'v> {
    vk: &'v Vk,
    pub(crate) instance: vk::Instance,
    physical: Vec<(String, vk::PhysicalDevice)>,
    device: vk::Device,
    pub(crate) surface: vk::SurfaceKHR,
    swapchain: vk::SwapchainKHR,
    messenger: vk::DebugUtilsMessengerEXT,
    report: vk::DebugReportCallbackEXT,
    allocators: [Allocator; 2],
    messages: Messages,
    reports: Reports,
}

impl Commands for Player<'_> {
    fn address(&self, name: &str) -> usize {
        self.vk.get(self.instance, name)
    }
}

/// Plays all steps.
pub(crate) fn play(vk: &Vk, steps: &[String]) {
    let mut player = Player {
        vk,
        instance: vk::Instance::null(),
        physical: Vec::new(),
        device: vk::Device::null(),
        surface: vk::SurfaceKHR::null(),
        swapchain: vk::SwapchainKHR::null(),
        messenger: vk::DebugUtilsMessengerEXT::null(),
        report: vk::DebugReportCallbackEXT::null(),
        allocators: Default::default(),
        messages: Messages::default(),
        reports: Reports::default(),
    };
    for (allocator, name) in player.allocators.iter().zip(["A", "B"]) {
        let mark = allocator.mark();
        vk.mark(&format!("name {name} {}", mark.trim_start_matches("alloc=")));
    }
    for step in steps {
        let words: Vec<&str> = step.split(' ').collect();
        player.step(words[0], &words[1..]);
    }
    player.finish();
}

impl Player<'_> {
    /// Writes a result into the journal. Always returns `None`, so that callers can return the result of this call.
    pub(crate) fn note<T>(&self, step: &str, result: impl Display) -> Option<T> {
        self.vk.mark(&format!("{step} {result}"));
        None
    }

    fn noted(&self, step: &str, result: impl Debug) {
        self.note::<()>(step, format_args!("{result:?}"));
    }

    fn step(&mut self, step: &str, words: &[&str]) {
        match step {
            "version" => self.noted(step, self.vk.version()),
            "extensions" => self.extensions(words),
            "layers" => self.noted(step, self.vk.layers()),
            "instance" => self.create_instance(words),
            // Without an instance, the player skips all steps below except `look-up`.
            _ if self.instance.is_null() && step != "look-up" => {}
            "destroy-instance" => self.destroy_instance(words),
            "devices" => self.devices(words),
            "groups" => self.groups(words),
            "device-extensions" => self.device_extensions(words),
            "query" => self.query(words),
            "device" => self.create_device(words),
            "use-device" => self.use_device(),
            "destroy-device" => self.destroy_device(words),
            "surface" => queries::create_surface(self, words),
            "ask-surface" => self.ask_surface(),
            "destroy-surface" => self.destroy_surface(words),
            "swapchain" => self.create_swapchain(words),
            "destroy-swapchain" => self.destroy_swapchain(),
            "messenger" => self.create_messenger(words),
            "message" => self.send_message(),
            "destroy-messenger" => self.destroy_messenger(words),
            "report" => self.create_report(words),
            "destroy-report" => self.destroy_report(words),
            "look-up" => self.look_up(words),
            _ => panic!("catalogue.txt: what is the step `{step}`?"),
        }
    }

    /// Records the messages that the program received, and the number of blocks that were not freed.
    fn finish(&mut self) {
        for message in self.messages.all() {
            let objects: Vec<String> = message
                .objects
                .iter()
                .map(|(kind, handle)| format!("{kind:?} {handle:#x}"))
                .collect();
            let line = format!(
                "{:?} {:?} {} {}",
                message.severity, message.types, message.id_name, message.id_number
            );
            self.vk.say(
                "message",
                format!("utils {line} {objects:?} {}", message.text.replace('\n', "\\n")),
            );
        }
        for report in self.reports.with("") {
            let line = format!(
                "{:?} {:?} {:#x} {}",
                report.flags, report.object.0, report.object.1, report.location
            );
            let text = report.text.replace('\n', "\\n");
            self.vk.say(
                "message",
                format!("report {line} {} {} {text}", report.code, report.prefix),
            );
        }
        for (allocator, name) in self.allocators.iter().zip(["A", "B"]) {
            self.note::<()>("allocator", format_args!("{name} has {} blocks left", allocator.live()));
        }
    }

    /// Returns the callbacks that a word `alloc=A` or `alloc=B` names, or NULL if there is no such word.
    pub(crate) fn callbacks(&self, words: &[&str]) -> *const vk::AllocationCallbacks<'static> {
        let named = words.iter().find_map(|word| word.strip_prefix("alloc="));
        named.map_or(ptr::null(), |name| {
            self.allocators[usize::from(name == "B")].callbacks()
        })
    }

    fn extensions(&self, words: &[&str]) {
        let layer = words
            .first()
            .map(|name| std::ffi::CString::new(*name).expect("a name holds no zero byte"));
        self.noted("extensions", self.vk.extension_versions(layer.as_deref()));
    }

    /// Runs the step `instance VERSION WORD...`. Words are extensions, layers, `messenger`, `report`, `alloc=A`, `flags=1`, and
    /// `no-application`.
    fn create_instance(&mut self, words: &[&str]) {
        let [utils, report] = ["messenger", "report"].map(|word| words.contains(&word));
        let utils_info = self.messages.create_info();
        let mut report_info = self.reports.create_info();
        let mut spec = self.vk.spec().api(words[0]);
        if utils {
            report_info.p_next = ptr::from_ref(&utils_info).cast();
        }
        if report {
            spec = spec.next(&report_info);
        } else if utils {
            spec = spec.next(&utils_info);
        }
        for word in &words[1..] {
            spec = match word.split_once('=') {
                Some(("alloc", name)) => spec.allocator(&self.allocators[usize::from(name == "B")]),
                Some(("flags", number)) => spec.flags(number.parse().expect("flags are a number")),
                _ if word.starts_with("VK_LAYER_") => spec.layer(word),
                _ if word.starts_with("VK_") => spec.extensions(&[word]),
                _ if *word == "no-application" => spec.no_application(),
                _ => spec,
            };
        }
        let mut raw = vk::Instance::null();
        let result = spec.create_into(&mut raw);
        self.noted("instance", (result, raw != vk::Instance::null()));
        if result == vk::Result::SUCCESS {
            self.instance = raw;
        }
    }

    fn destroy_instance(&mut self, words: &[&str]) {
        let this = &*self;
        call!(this, PFN_vkDestroyInstance(this.instance, this.callbacks(words)));
        (self.instance, self.device, self.physical) = (vk::Instance::null(), vk::Device::null(), Vec::new());
        self.noted("destroy-instance", ());
    }

    /// Runs the step `devices`, or `devices ROOM` with an array of this size.
    fn devices(&mut self, words: &[&str]) {
        let this = &*self;
        let ask = |count: &mut u32, out| call!(this, PFN_vkEnumeratePhysicalDevices(this.instance, count, out));
        let list = match words.first() {
            None => two_call(ask),
            Some(room) => {
                let (result, list) = fill_some(room.parse().expect("a room is a number"), ask);
                this.noted("devices", result);
                Ok(list)
            }
        };
        let named = |device| {
            let mut properties = vk::PhysicalDeviceProperties::default();
            call!(this, PFN_vkGetPhysicalDeviceProperties(device, &mut properties));
            (text(&properties.device_name), device)
        };
        let named: Result<Vec<_>, _> = list.map(|list| list.into_iter().map(named).collect());
        self.noted(
            "devices",
            named
                .as_ref()
                .map(|list| list.iter().map(|(name, _)| name).collect::<Vec<_>>()),
        );
        if let Ok(list) = named {
            self.physical = list;
        }
    }

    fn groups(&self, words: &[&str]) {
        let list: Result<Vec<vk::PhysicalDeviceGroupProperties<'_>>, _> = match words.first() {
            Some(&"KHR") => {
                if self.address("vkEnumeratePhysicalDeviceGroupsKHR") == 0 {
                    self.note::<()>("groups", "KHR is not answered");
                    return;
                }
                two_call(
                    |count, out| call!(self, "vkEnumeratePhysicalDeviceGroupsKHR" as PFN_vkEnumeratePhysicalDeviceGroups(self.instance, count, out)),
                )
            }
            _ => two_call(|count, out| call!(self, PFN_vkEnumeratePhysicalDeviceGroups(self.instance, count, out))),
        };
        let name = |device: &vk::PhysicalDevice| {
            let known = self.physical.iter().find(|(_, have)| have == device);
            known.map_or("?", |(name, _)| name.as_str())
        };
        let names = |group: &vk::PhysicalDeviceGroupProperties<'_>| {
            let members = loader_tests::vk::members(group);
            members.iter().map(|device| name(device).to_owned()).collect::<Vec<_>>()
        };
        self.noted("groups", list.map(|list| list.iter().map(names).collect::<Vec<_>>()));
    }

    /// Returns the physical device with this name, or the first physical device if there is no name.
    fn physical(&self, words: &[&str]) -> Option<vk::PhysicalDevice> {
        let named = self
            .physical
            .iter()
            .find(|(name, _)| words.first() == Some(&name.as_str()));
        let found = named.or_else(|| self.physical.first()).map(|(_, device)| *device);
        found.or_else(|| self.note("there", "is no physical device"))
    }

    /// Runs the step `device-extensions [DEVICE [LAYER]]`.
    fn device_extensions(&self, words: &[&str]) {
        let Some(device) = self.physical(words) else { return };
        let layer = words
            .get(1)
            .map(|name| std::ffi::CString::new(*name).expect("a name holds no zero byte"));
        let layer = layer.as_ref().map_or(ptr::null(), |name| name.as_ptr());
        let list: Result<Vec<vk::ExtensionProperties>, _> = two_call(|count, out| {
            call!(
                self,
                PFN_vkEnumerateDeviceExtensionProperties(device, layer, count, out)
            )
        });
        let names =
            |list: Vec<vk::ExtensionProperties>| list.iter().map(|one| text(&one.extension_name)).collect::<Vec<_>>();
        self.noted("device-extensions", list.map(names));
        let list: Result<Vec<vk::LayerProperties>, _> =
            two_call(|count, out| call!(self, PFN_vkEnumerateDeviceLayerProperties(device, count, out)));
        self.noted(
            "device-layers",
            list.map(|list| list.iter().map(|one| text(&one.layer_name)).collect::<Vec<_>>()),
        );
    }

    fn query(&self, words: &[&str]) {
        if let Some(device) = self.physical(words) {
            queries::ask_physical(self, device);
        }
    }

    /// Runs the step `device NAME WORD...`. Words are extensions, layers, `features`, `group`, and `alloc=A`.
    fn create_device(&mut self, words: &[&str]) {
        let Some(physical) = self.physical(words) else { return };
        let names = |start: &str| -> Vec<std::ffi::CString> {
            let hits = words
                .iter()
                .filter(|word| word.starts_with("VK_") && word.starts_with("VK_LAYER_") == (start == "VK_LAYER_"));
            hits.map(|name| std::ffi::CString::new(*name).expect("a name holds no zero byte"))
                .collect()
        };
        let (extensions, layers) = (names("VK_"), names("VK_LAYER_"));
        let pointers = |names: &[std::ffi::CString]| names.iter().map(|name| name.as_ptr()).collect::<Vec<_>>();
        let (extensions, layers) = (pointers(&extensions), pointers(&layers));
        let priorities = [1.0];
        let queues = [vk::DeviceQueueCreateInfo::default().queue_priorities(&priorities)];
        let features = vk::PhysicalDeviceFeatures::default();
        let members: Vec<vk::PhysicalDevice> = self.physical.iter().map(|(_, device)| *device).collect();
        let mut group = vk::DeviceGroupDeviceCreateInfo::default().physical_devices(&members[..1]);
        let mut info = vk::DeviceCreateInfo::default()
            .queue_create_infos(&queues)
            .enabled_extension_names(&extensions);
        #[allow(deprecated, reason = "the list is ignored, which is what a scene shows")]
        if !layers.is_empty() {
            info = info.enabled_layer_names(&layers);
        }
        if words.contains(&"features") {
            info = info.enabled_features(&features);
        }
        if words.contains(&"group") {
            info = info.push_next(&mut group);
        }
        let mut device = vk::Device::null();
        let this = &*self;
        let result = call!(
            this,
            PFN_vkCreateDevice(physical, &info, this.callbacks(words), &mut device)
        );
        self.noted("device", (result, device != vk::Device::null()));
        if result == vk::Result::SUCCESS {
            self.device = device;
        }
    }

    /// Uses the device: fetches a queue, records a draw into a command buffer, and submits the buffer.
    fn use_device(&self) {
        if self.device.is_null() {
            return;
        }
        let mut queue = vk::Queue::null();
        call!(self, PFN_vkGetDeviceQueue(self.device, 0, 0, &mut queue));
        let mut pool = vk::CommandPool::null();
        let info = vk::CommandPoolCreateInfo::default();
        let made = call!(
            self,
            PFN_vkCreateCommandPool(self.device, &info, ptr::null(), &mut pool)
        );
        let info = vk::CommandBufferAllocateInfo::default()
            .command_pool(pool)
            .command_buffer_count(1);
        let mut buffer = vk::CommandBuffer::null();
        let got = call!(self, PFN_vkAllocateCommandBuffers(self.device, &info, &mut buffer));
        let begun = call!(
            self,
            PFN_vkBeginCommandBuffer(buffer, &vk::CommandBufferBeginInfo::default())
        );
        let ended = call!(self, PFN_vkEndCommandBuffer(buffer));
        let buffers = [buffer];
        let submit = vk::SubmitInfo::default().command_buffers(&buffers);
        let sent = call!(self, PFN_vkQueueSubmit(queue, 1, &submit, vk::Fence::null()));
        let waited = call!(self, PFN_vkDeviceWaitIdle(self.device));
        call!(self, PFN_vkFreeCommandBuffers(self.device, pool, 1, &buffer));
        call!(self, PFN_vkDestroyCommandPool(self.device, pool, ptr::null()));
        self.noted("use-device", [made, got, begun, ended, sent, waited]);
    }

    fn destroy_device(&mut self, words: &[&str]) {
        let this = &*self;
        if !this.device.is_null() {
            call!(this, PFN_vkDestroyDevice(this.device, this.callbacks(words)));
            self.device = vk::Device::null();
            self.noted("destroy-device", ());
        }
    }

    fn ask_surface(&self) {
        for (name, device) in &self.physical {
            self.noted("ask-surface", name);
            queries::ask_surface(self, *device, self.surface);
        }
    }

    fn destroy_surface(&mut self, words: &[&str]) {
        let this = &*self;
        attempt!(
            this,
            PFN_vkDestroySurfaceKHR(this.instance, this.surface, this.callbacks(words))
        );
        self.surface = vk::SurfaceKHR::null();
    }

    fn create_swapchain(&mut self, words: &[&str]) {
        if self.device.is_null() || self.surface.is_null() {
            return;
        }
        let (this, mut made) = (&*self, vk::SwapchainKHR::null());
        let info = vk::SwapchainCreateInfoKHR::default().surface(this.surface);
        let answer = attempt!(
            this,
            PFN_vkCreateSwapchainKHR(this.device, &info, this.callbacks(words), &mut made)
        );
        self.noted("swapchain", answer);
        self.swapchain = made;
    }

    fn destroy_swapchain(&mut self) {
        if !self.swapchain.is_null() {
            let this = &*self;
            attempt!(
                this,
                PFN_vkDestroySwapchainKHR(this.device, this.swapchain, ptr::null())
            );
            self.swapchain = vk::SwapchainKHR::null();
        }
    }

    /// Runs the step `look-up null|instance|device NAME...`, with `*` for all names. Records for each look-up whether it returns a
    /// function.
    fn look_up(&self, words: &[&str]) {
        let every: Vec<&str> = commands().collect();
        let names = if words[1..] == ["*"] { &every[..] } else { &words[1..] };
        for name in names {
            let found = match words[0] {
                "null" => self.vk.get(vk::Instance::null(), name),
                "instance" => self.vk.get(self.instance, name),
                _ => self.of_device(name),
            };
            self.note::<()>(
                "look-up",
                format_args!("{} {name} {}", words[0], if found == 0 { "null" } else { "answered" }),
            );
        }
    }

    fn of_device(&self, name: &str) -> usize {
        if self.device.is_null() {
            return 0;
        }
        let name = std::ffi::CString::new(name).expect("a name holds no zero byte");
        let found = call!(self, PFN_vkGetDeviceProcAddr(self.device, name.as_ptr()));
        found.map_or(0, |function| function as usize)
    }
}
