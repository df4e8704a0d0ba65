//! Tests of messages: the messengers and callbacks that receive each message, the form of messages, and the order of the receivers (APP-190
//! to APP-200).

use std::ptr;

use loader_tests::ash::vk::{self, Handle};
use loader_tests::vk::{Instance, Message, Messages, Reports};
use loader_tests::{call, case};

const UTILS: &str = "VK_EXT_debug_utils";
const REPORT: &str = "VK_EXT_debug_report";
const BOTH: [&str; 2] = [UTILS, REPORT];
type Severity = vk::DebugUtilsMessageSeverityFlagsEXT;
type Type = vk::DebugUtilsMessageTypeFlagsEXT;

/// Submits a message with one object.
fn submit(instance: &Instance<'_>, severity: Severity, types: Type, text: &std::ffi::CStr) -> usize {
    let objects = [vk::DebugUtilsObjectNameInfoEXT {
        object_type: vk::ObjectType::INSTANCE,
        object_handle: instance.raw.as_raw(),
        ..Default::default()
    }];
    let mut data = vk::DebugUtilsMessengerCallbackDataEXT::default()
        .message_id_name(c"the id")
        .message(text)
        .objects(&objects);
    data.message_id_number = 17;
    call!(
        instance,
        PFN_vkSubmitDebugUtilsMessageEXT(instance.raw, severity, types, &data)
    );
    ptr::from_ref(&data) as usize
}

/// Sends a report message.
fn report(instance: &Instance<'_>, flags: vk::DebugReportFlagsEXT, text: &std::ffi::CStr) {
    let object_type = vk::DebugReportObjectTypeEXT::INSTANCE;
    let (object, prefix) = (instance.raw.as_raw(), c"the prefix".as_ptr());
    call!(
        instance,
        PFN_vkDebugReportMessageEXT(instance.raw, flags, object_type, object, 5, 6, prefix, text.as_ptr())
    );
}

/// APP-192, APP-193a, DRV-166: a submitted message arrives once and unchanged, and no driver receives it.
#[test]
fn app_192_submitted_messages_arrive_once() {
    case(|scene| {
        scene.usual_driver("a");
        scene.usual_driver("b");
        let outcome = scene.run(|vk| {
            let messages = Messages::default();
            let instance = vk.instance_with("1.1", &BOTH);
            let handle = instance.messenger(&messages);
            let data = submit(&instance, Severity::WARNING, Type::VALIDATION, c"hello");
            let heard = messages.with("hello");
            assert_eq!(
                heard,
                [Message {
                    severity: Severity::WARNING,
                    types: Type::VALIDATION,
                    text: "hello".into(),
                    id_name: "the id".into(),
                    id_number: 17,
                    objects: vec![(vk::ObjectType::INSTANCE, instance.raw.as_raw())],
                    data,
                }]
            );
            instance.destroy_messenger(handle);
            submit(&instance, Severity::WARNING, Type::GENERAL, c"after the last");
            assert!(messages.with("after the last").is_empty());
        });
        let outcome = outcome.ok();
        assert!(
            outcome.calls("a", "vkSubmitDebugUtilsMessageEXT").is_empty(),
            "{}",
            outcome.all()
        );
    });
}

/// APP-192, DRV-166: a report message first goes to every driver that has the command, and then to the loader's callbacks.
#[test]
fn app_192_report_messages_reach_the_drivers() {
    case(|scene| {
        scene.usual_driver("a");
        scene.usual_driver("b");
        scene.driver("none").device("none");
        let outcome = scene.run(|vk| {
            let reports = Reports::default();
            let instance = vk.instance_with("1.1", &BOTH);
            let handle = instance.report_callback(&reports);
            report(&instance, vk::DebugReportFlagsEXT::WARNING, c"hello");
            assert_eq!(reports.with("hello").len(), 1);
            let heard = &reports.with("hello")[0];
            assert_eq!(
                (heard.location, heard.code, heard.prefix.as_str()),
                (5, 6, "the prefix")
            );
            assert_eq!(
                heard.object,
                (vk::DebugReportObjectTypeEXT::INSTANCE, instance.raw.as_raw())
            );
            instance.destroy_report_callback(handle);
        });
        let outcome = outcome.ok();
        for driver in ["a", "b"] {
            assert_eq!(
                outcome.calls(driver, "vkDebugReportMessageEXT"),
                ["flags=2 code=6 hello"],
                "{}",
                outcome.all()
            );
        }
    });
}

/// APP-193, APP-193a: a report callback receives a submitted message with the flags that follow from its severity and type, and with its
/// object, text and ID.
#[test]
fn app_193_submitted_messages_reach_report_callbacks() {
    case(|scene| {
        scene.driver("a").device("one");
        let outcome = scene.run(|vk| {
            let reports = Reports::default();
            let instance = vk.instance_with("1.1", &BOTH);
            instance.report_callback(&reports);
            let rows = [
                (Severity::ERROR, Type::GENERAL, vk::DebugReportFlagsEXT::ERROR),
                (Severity::WARNING, Type::GENERAL, vk::DebugReportFlagsEXT::WARNING),
                (
                    Severity::WARNING,
                    Type::PERFORMANCE,
                    vk::DebugReportFlagsEXT::PERFORMANCE_WARNING,
                ),
                (Severity::INFO, Type::VALIDATION, vk::DebugReportFlagsEXT::INFORMATION),
                (Severity::VERBOSE, Type::GENERAL, vk::DebugReportFlagsEXT::DEBUG),
            ];
            for (number, (severity, types, flags)) in rows.into_iter().enumerate() {
                let text = std::ffi::CString::new(format!("row {number}")).expect("no zero");
                submit(&instance, severity, types, &text);
                let heard = reports.with(&format!("row {number}"));
                assert_eq!(heard.len(), 1, "{severity:?}");
                assert_eq!((heard[0].flags, heard[0].location, heard[0].code), (flags, 0, 17));
                assert_eq!(heard[0].prefix, "the id");
                assert_eq!(
                    heard[0].object,
                    (vk::DebugReportObjectTypeEXT::INSTANCE, instance.raw.as_raw())
                );
            }
        });
        outcome.ok();
    });
}

/// APP-193: a messenger receives a report message with the severity and type that follow from its flags, and with its object, text and
/// prefix.
#[test]
fn app_193_report_messages_reach_messengers() {
    case(|scene| {
        scene.driver("a").device("one");
        let outcome = scene.run(|vk| {
            let messages = Messages::default();
            let instance = vk.instance_with("1.1", &BOTH);
            instance.messenger(&messages);
            let rows = [
                (vk::DebugReportFlagsEXT::INFORMATION, Severity::INFO, Type::GENERAL),
                (vk::DebugReportFlagsEXT::WARNING, Severity::WARNING, Type::GENERAL),
                (
                    vk::DebugReportFlagsEXT::PERFORMANCE_WARNING,
                    Severity::WARNING,
                    Type::PERFORMANCE,
                ),
                (vk::DebugReportFlagsEXT::ERROR, Severity::ERROR, Type::GENERAL),
                (vk::DebugReportFlagsEXT::DEBUG, Severity::VERBOSE, Type::GENERAL),
            ];
            for (number, (flags, severity, types)) in rows.into_iter().enumerate() {
                let text = std::ffi::CString::new(format!("row {number}")).expect("no zero");
                report(&instance, flags, &text);
                let heard = messages.with(&format!("row {number}"));
                assert_eq!(heard.len(), 1, "{flags:?}");
                assert_eq!((heard[0].severity, heard[0].types), (severity, types), "{flags:?}");
                assert_eq!((heard[0].id_name.as_str(), heard[0].id_number), ("the prefix", 6));
                assert_eq!(heard[0].objects, [(vk::ObjectType::INSTANCE, instance.raw.as_raw())]);
            }
        });
        outcome.ok();
    });
}

/// APP-193a: a messenger receives a message if its severity mask and its type mask both match.
#[test]
fn app_193a_masks_are_honoured() {
    case(|scene| {
        scene.driver("a").device("one");
        let outcome = scene.run(|vk| {
            let messages = Messages::default();
            let instance = vk.instance_with("1.1", &[UTILS]);
            let info = vk::DebugUtilsMessengerCreateInfoEXT {
                message_severity: Severity::WARNING | Severity::VERBOSE,
                message_type: Type::PERFORMANCE,
                ..messages.create_info()
            };
            let mut handle = vk::DebugUtilsMessengerEXT::null();
            let result = call!(
                instance,
                PFN_vkCreateDebugUtilsMessengerEXT(instance.raw, &info, ptr::null(), &mut handle)
            );
            assert_eq!(result, vk::Result::SUCCESS);
            submit(&instance, Severity::WARNING, Type::GENERAL, c"wrong type");
            submit(&instance, Severity::ERROR, Type::PERFORMANCE, c"wrong severity");
            submit(
                &instance,
                Severity::VERBOSE,
                Type::PERFORMANCE | Type::GENERAL,
                c"right",
            );
            let heard: Vec<String> = messages.all().into_iter().map(|message| message.text).collect();
            assert_eq!(heard, ["right"]);
        });
        outcome.ok();
    });
}

/// APP-195: the newest callback receives a message first.
#[test]
fn app_195_the_newest_hears_first() {
    case(|scene| {
        scene.driver("a").device("one");
        let outcome = scene.run(|vk| {
            let order = std::rc::Rc::new(std::cell::RefCell::new(Vec::new()));
            let recorder = |name: &'static str| {
                let order = order.clone();
                Messages::with_hook(move |_| order.borrow_mut().push(name))
            };
            let (first, second, third) = (recorder("first"), recorder("second"), recorder("third"));
            let instance = vk.instance_with("1.1", &[UTILS]);
            let handles = [&first, &second, &third].map(|messages| instance.messenger(messages));
            instance.destroy_messenger(handles[1]);
            order.borrow_mut().clear();
            submit(&instance, Severity::INFO, Type::GENERAL, c"hello");
            assert_eq!(*order.borrow(), ["third", "first"]);
        });
        outcome.ok();
    });
}

/// APP-82, APP-195, APP-197: callbacks in the create info receive messages during creation and destruction, and no messages at other times.
#[test]
fn app_197_create_time_messengers() {
    case(|scene| {
        scene.driver("a").device("one");
        scene.driver("bad").device("bad").fail("vkCreateInstance", -3);
        scene.env("VK_LOADER_DEBUG", "");
        let outcome = scene.run(|vk| {
            let messages = Messages::default();
            let info = messages.create_info();
            // A messenger in the `pNext` chain receives messages although `VK_EXT_debug_utils` is not enabled.
            let instance = vk.spec().next(&info).create().expect("vkCreateInstance");
            assert_eq!(messages.with("Skipping this driver.").len(), 1);
            messages.clear();
            assert_eq!(instance.device_count(), Ok(1));
            assert!(messages.all().is_empty(), "{:?}", messages.all());
            instance.destroy();
        });
        outcome.ok();
    });
}

/// APP-82: if instance creation fails, both kinds of callbacks in the create info receive a message.
#[test]
fn app_082_a_failing_creation_is_reported() {
    case(|scene| {
        scene.env("VK_LOADER_DEBUG", "");
        let outcome = scene.run(|vk| {
            let (messages, reports) = (Messages::default(), Reports::default());
            let report = reports.create_info();
            let mut info = messages.create_info();
            info.p_next = ptr::from_ref(&report).cast();
            assert!(vk.spec().next(&info).create().is_err());
            let heard = messages.with("Found no drivers!");
            assert_eq!(heard.len(), 1);
            assert_eq!((heard[0].severity, heard[0].types), (Severity::ERROR, Type::GENERAL));
            let heard = reports.with("Found no drivers!");
            assert_eq!((heard.len(), heard[0].flags), (1, vk::DebugReportFlagsEXT::ERROR));
        });
        outcome.ok();
    });
}

/// APP-194: messengers receive the loader's own messages, independent of the lines on standard error.
#[test]
fn app_194_the_loaders_messages() {
    case(|scene| {
        scene.driver("a").device("one").device("two");
        scene.env("VK_LOADER_DEBUG", "");
        let outcome = scene.run(|vk| {
            let messages = Messages::default();
            let instance = vk.instance_with("1.1", &[UTILS]);
            instance.messenger(&messages);
            assert_eq!(instance.some_devices(1).0, vk::Result::INCOMPLETE);
            let heard = messages.with("Trimming device count from 2 to 1.");
            assert_eq!(heard.len(), 1);
            let message = &heard[0];
            assert_eq!(
                message.text,
                "terminator_EnumeratePhysicalDevices : Trimming device count from 2 to 1."
            );
            assert_eq!((message.severity, message.types), (Severity::INFO, Type::GENERAL));
            assert_eq!((message.id_name.as_str(), message.id_number), ("Loader Message", 0));
            assert_eq!(message.objects, [(vk::ObjectType::INSTANCE, instance.raw.as_raw())]);
        });
        outcome.ok().not_logged("Trimming");
    });
}

/// APP-115, APP-194: a message about a parameter also has the type validation.
#[test]
fn app_194_parameter_messages_are_validation() {
    case(|scene| {
        scene.driver("a").device("one");
        let outcome = scene.run(|vk| {
            let messages = Messages::default();
            let instance = vk.instance_with("1.1", &[UTILS]);
            instance.messenger(&messages);
            let null = ptr::null_mut();
            let result = call!(
                instance,
                PFN_vkEnumeratePhysicalDevices(instance.raw, null, ptr::null_mut())
            );
            assert_eq!(result, vk::Result::ERROR_INITIALIZATION_FAILED);
            let heard = messages.with("VUID-vkEnumeratePhysicalDevices-pPhysicalDeviceCount-parameter");
            assert_eq!(heard.len(), 1);
            assert_eq!(
                (heard[0].severity, heard[0].types),
                (Severity::ERROR, Type::GENERAL | Type::VALIDATION)
            );
        });
        outcome.ok();
    });
}

/// APP-180, APP-115: a message about an aborted call is on standard error before a messenger receives it, because the messenger can end the
/// process.
#[test]
fn app_180_the_line_comes_before_the_messengers() {
    case(|scene| {
        scene.driver("a").device("one");
        scene.env("VK_LOADER_DEBUG", "");
        let outcome = scene.run(|vk| {
            let instance = vk.instance_with("1.1", &[UTILS]);
            let messages = Messages::with_hook(|_| std::process::abort());
            instance.messenger(&messages);
            let _: vk::Result = call!(
                instance,
                PFN_vkEnumeratePhysicalDevices(instance.raw, ptr::null_mut(), ptr::null_mut())
            );
        });
        outcome.aborted("VUID-vkEnumeratePhysicalDevices-pPhysicalDeviceCount-parameter");
    });
}

/// APP-194: the severity of a message follows from the level of its log line.
#[test]
fn app_194_severities_of_the_loaders_messages() {
    case(|scene| {
        scene.usual_driver("a").interface(4).api("1.1.0");
        let outcome = scene.run(|vk| {
            let messages = Messages::default();
            let info = messages.create_info();
            let instance = vk
                .spec()
                .extensions(&[UTILS])
                .next(&info)
                .create()
                .expect("vkCreateInstance");
            let severity = |part: &str| messages.with(part).first().map(|message| message.severity);
            assert_eq!(severity("#LDP_DRIVER_7"), Some(Severity::WARNING));
            assert_eq!(severity("Searching for driver manifest files"), Some(Severity::INFO));
            assert_eq!(severity("Searching for ICD drivers named"), Some(Severity::VERBOSE));
            drop(instance);
        });
        outcome.ok();
    });
}

/// APP-194a: a run without faults logs no message at level ERROR.
#[test]
fn app_194a_a_run_without_faults_has_no_errors() {
    case(|scene| {
        scene.usual_driver("a");
        scene.usual_driver("b").api("1.1.0");
        scene.driver("old").api("1.0.0").interface(1).device("old");
        let outcome = scene.run(|vk| {
            let messages = Messages::default();
            let info = messages.create_info();
            for api in ["1.0", "1.3"] {
                vk.extensions().expect("the query succeeds");
                let instance = vk
                    .spec()
                    .api(api)
                    .extensions(&[UTILS])
                    .next(&info)
                    .create()
                    .expect("vkCreateInstance");
                let messenger = instance.messenger(&messages);
                for physical in instance.devices().expect("devices") {
                    drop(instance.device(physical, &[]));
                }
                drop(instance.groups());
                instance.destroy_messenger(messenger);
            }
            let errors: Vec<Message> = messages
                .all()
                .into_iter()
                .filter(|one| one.severity == Severity::ERROR)
                .collect();
            assert!(errors.is_empty(), "{errors:?}");
        });
        let outcome = outcome.ok();
        assert!(
            outcome.log("ERROR").is_empty() && outcome.log("ERROR | DRIVER").is_empty(),
            "{}",
            outcome.all()
        );
    });
}

/// APP-196: callbacks may call back into Vulkan during creation, enumeration and destruction.
#[test]
fn app_196_callbacks_call_back() {
    case(|scene| {
        scene
            .usual_driver("a")
            .line("emit", "vkEnumeratePhysicalDevices from the driver")
            .line("emit", "vkCreateDevice from the driver");
        let outcome = scene.run(|vk| {
            let shared = std::rc::Rc::new(std::cell::Cell::new(vk::Instance::null()));
            let again = std::rc::Rc::new(vk.again());
            let (inner, hook_instance) = (again.clone(), shared.clone());
            let messages = Messages::with_hook(move |_| {
                inner.version();
                assert_ne!(inner.get(vk::Instance::null(), "vkCreateInstance"), 0);
                if hook_instance.get() != vk::Instance::null() {
                    assert_ne!(inner.get(hook_instance.get(), "vkCmdDraw"), 0);
                    inner.get(hook_instance.get(), "vkNobody");
                }
            });
            let info = messages.create_info();
            let instance = vk
                .spec()
                .api("1.1")
                .extensions(&[UTILS])
                .next(&info)
                .create()
                .expect("vkCreateInstance");
            shared.set(instance.raw);
            instance.messenger(&messages);
            let physical = instance.first();
            assert!(!messages.with("from the driver").is_empty());
            drop(instance.device(physical, &[]));
            shared.set(vk::Instance::null());
            instance.destroy();
            drop(again);
        });
        outcome.ok();
    });
}

/// APP-194: long messages are cut.
#[test]
fn app_194_long_messages_are_cut() {
    case(|scene| {
        scene.env("VK_DRIVER_FILES", format!("/{}.json", "x".repeat(900)));
        let outcome = scene.run(|vk| {
            let messages = Messages::default();
            let info = messages.create_info();
            assert!(vk.spec().next(&info).create().is_err());
            let long: Vec<Message> = messages
                .all()
                .into_iter()
                .filter(|message| message.text.len() > 511)
                .collect();
            assert!(long.is_empty(), "{long:?}");
            assert!(!messages.with("xxxx").is_empty());
        });
        outcome.ok();
    });
}
