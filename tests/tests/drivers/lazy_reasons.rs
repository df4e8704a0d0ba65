//! Tests of the reasons in the log why drivers are opened at once, although a policy keeps drivers closed (DRV-286).

use super::lazy::{calls, two_devices};
use super::lazy_altered::recorded;
use loader_tests::ash::vk;
use loader_tests::vk::{Allocator, Instance};
use loader_tests::{Outcome, Scene, Vk, call, case};
use record::{DRIVER, Key, Query};
use std::{fs, ptr};

/// Returns the reasons in the log why drivers were opened at once.
fn reasons(outcome: &Outcome) -> Vec<String> {
    let all = outcome.ok().all();
    let reason = |line: &str| Some(line.split_once(" at once, in spite of the policy: ")?.1.to_owned());
    all.lines().filter_map(reason).collect()
}

/// Creates an instance whose `VkApplicationInfo` has a chain, and destroys it.
fn with_application_chain(vk: &Vk) -> Result<(), vk::Result> {
    let extra = vk::BaseInStructure {
        s_type: vk::StructureType::from_raw(777_000),
        ..Default::default()
    };
    let application = vk::ApplicationInfo {
        p_next: ptr::from_ref(&extra).cast(),
        ..Default::default()
    };
    let info = vk::InstanceCreateInfo::default().application_info(&application);
    let mut raw = vk::Instance::null();
    call!(vk, PFN_vkCreateInstance(&info, ptr::null(), &mut raw)).result()?;
    let destroy = vk.get(raw, "vkDestroyInstance");
    // SAFETY: the address belongs to the named function, which has this type.
    let destroy = unsafe { std::mem::transmute::<usize, vk::PFN_vkDestroyInstance>(destroy) };
    // SAFETY: the instance is live, and was created without callbacks.
    unsafe { destroy(raw, ptr::null()) };
    Ok(())
}

/// DRV-286: if the loader cannot copy the create info of an instance, or the instance has allocation callbacks, the driver is opened at
/// once. The log says why.
#[test]
fn drv_286_create_infos_that_open_the_driver() {
    case(|scene| {
        two_devices(scene);
        for (kind, reason) in [
            ("plain", None),
            ("callbacks", Some("the program passes allocation callbacks")),
            (
                "chain",
                Some("the create info of the instance has a structure that cannot be copied: sType 777001"),
            ),
            (
                "application",
                Some("the create info of the instance has a structure that cannot be copied: sType 777000"),
            ),
        ] {
            let outcome = scene.run(|vk| {
                let allocator = Allocator::with(|_| ());
                let chain = vk::BaseInStructure {
                    s_type: vk::StructureType::from_raw(777_001),
                    ..Default::default()
                };
                let spec = || vk.spec().api("1.1");
                let made = match kind {
                    "callbacks" => spec().allocator(&allocator).create().map(Instance::destroy),
                    "chain" => spec().next(&chain).create().map(Instance::destroy),
                    "application" => with_application_chain(vk),
                    _ => spec().create().map(Instance::destroy),
                };
                assert_eq!(made, Ok(()), "{kind}");
                assert_eq!(calls(vk, "vkCreateInstance"), usize::from(reason.is_some()), "{kind}");
            });
            assert_eq!(reasons(&outcome), Vec::from_iter(reason), "{kind}: {}", outcome.all());
        }
    });
}

/// Lists the devices, and returns the reasons in the log why the driver was opened at once.
fn listed(scene: &mut Scene) -> Vec<String> {
    let outcome = scene.run(|vk| assert_eq!(vk.instance_with("1.3", &[]).device_names(), ["one"]));
    reasons(&outcome)
}

/// DRV-286: a record counts only for a process that may use the device nodes. The driver's files and the amount of memory must be the same
/// as during the update that made the record. The log names a changed file, or a node that the process may not use.
#[test]
fn drv_286_files_nodes_and_memory_of_a_record() {
    case(|scene| {
        let whole = recorded(scene);
        let (node, file) = (scene.text_path("node"), scene.text_path("settings"));
        assert_eq!(listed(scene), [""; 0]);
        scene.on_disk(|| {
            fs::write(&node, "").expect("a file");
            whole.rewrite(|rows| drop(rows.insert(Key::of(DRIVER, Query::Node), node.clone().into())));
        });
        assert_eq!(listed(scene), [""; 0], "the node can be used");
        scene.on_disk(|| fs::remove_file(&node).expect("a file"));
        assert_eq!(
            listed(scene),
            [format!("the program may not use a device node of it: {node}")]
        );
        let first = Key::of(DRIVER, Query::File);
        scene.on_disk(|| {
            whole.rewrite(|rows| {
                let count = rows.keys().filter(|key| key.query == first.query).count();
                rows.insert(first.at(count as u32), [file.as_bytes(), b"\0"].concat());
            });
        });
        assert_eq!(listed(scene), [""; 0], "the file is still missing");
        scene.on_disk(|| fs::write(&file, "").expect("a file"));
        assert_eq!(
            listed(scene),
            [format!("a file that it reads has changed since the update: {file}")]
        );
        scene.on_disk(|| {
            whole.rewrite(|rows| drop(rows.insert(Key::of(DRIVER, Query::Machine), b"MemTotal: 1 kB".to_vec())));
        });
        assert_eq!(
            listed(scene),
            ["the machine has another amount of memory than during the update"]
        );
    });
}

/// DRV-283, DRV-286: structures for layers, such as `VkValidationFeaturesEXT`, do not reach a driver that is opened late. A driver with the
/// structure's extension may read the structure, so the loader opens this driver at once.
#[test]
fn drv_286_structures_for_layers_open_only_drivers_that_know_them() {
    case(|scene| {
        two_devices(scene);
        let chained = |scene: &mut Scene| {
            scene.run(|vk| {
                let features = vk::ValidationFeaturesEXT::default();
                let instance = vk.spec().api("1.1").next(&features).create().expect("vkCreateInstance");
                assert_eq!(instance.device_spec(instance.named("two")).create().map(drop), Ok(()));
            })
        };
        let outcome = chained(scene);
        assert_eq!(reasons(&outcome), [""; 0]);
        assert!(outcome.all().contains("now, for vkCreateDevice"), "{}", outcome.all());
        scene
            .driver("b")
            .extension("VK_EXT_validation_features")
            .device("three");
        let outcome = chained(scene);
        let reason = "the create info of the instance has a structure that cannot be copied: sType 1000247000";
        assert_eq!(reasons(&outcome), [reason]);
        assert_eq!(outcome.calls("b", "vkCreateInstance").len(), 1);
    });
}
