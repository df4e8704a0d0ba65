//! Tests that open driver libraries, and check when these libraries are unloaded (DRV-56 to DRV-61, DRV-232 to DRV-240).

use loader_tests::symlink;
use std::fs;

use loader_tests::ash::vk;
use loader_tests::{Outcome, Scene, Vk, case, linker_words};

fn names(vk: &Vk) -> Vec<String> {
    vk.instance().device_names()
}

/// Runs a valid driver beside a driver whose library path is `path`.
fn beside(scene: &mut Scene, path: &str) -> Outcome {
    scene.driver("bad").device("bad").library_path(path);
    scene.driver("good").device("good");
    let outcome = scene.run(|vk| assert_eq!(names(vk), ["good"]));
    outcome.ok();
    outcome
}

/// DRV-58, DRV-59: the log names a driver library that does not exist.
#[test]
fn drv_059_a_missing_library_is_named() {
    case(|scene| {
        let outcome = beside(scene, "/nowhere/at/all/libx.so");
        outcome.logged_with("ERROR", &format!("/nowhere/at/all/libx.so: {}", linker_words::MISSING));
        outcome.logged(
            "ERROR | DRIVER",
            "loader_icd_scan: Failed loading library associated with ICD JSON /nowhere/at/all/libx.so. Ignoring this JSON",
        );
    });
}

/// DRV-59: the log line about a missing library contains the resolved path of the library.
#[test]
fn drv_059_the_resolved_path_is_logged() {
    case(|scene| {
        let resolved = format!("{}/./libx.so", scene.text_path("drivers"));
        beside(scene, "./libx.so").logged(
            "ERROR | DRIVER",
            &format!("loader_icd_scan: Failed loading library associated with ICD JSON {resolved}. Ignoring this JSON"),
        );
    });
}

/// DRV-58: a driver file that is not a library is skipped.
#[test]
fn drv_058_what_is_no_library_is_skipped() {
    case(|scene| {
        let path = scene.file("odd/text.so", "this is no library");
        beside(scene, &path.display().to_string()).logged_with("ERROR", "text.so: ");
    });
}

/// DRV-58, DRV-59: the loader skips a library of the other pointer size without an error, because such libraries are normal on multilib
/// systems.
#[test]
fn drv_058_a_library_of_the_other_class_is_no_error() {
    case(|scene| {
        // The system reads only the header of a library. These bytes are the header of an x86 library with the other pointer size.
        let class = if size_of::<usize>() == 8 { 1 } else { 2 };
        let mut head = vec![0x7f, b'E', b'L', b'F', class, 1, 1, 0];
        head.resize(16, 0);
        head.extend([3, 0, 3, 0, 1, 0, 0, 0]);
        head.resize(4096, 0);
        let path = scene.file("odd/lib32.so", head).display().to_string();
        let outcome = beside(scene, &path);
        outcome.logged_with("INFO", linker_words::OTHER_CLASS);
        outcome.logged(
            "DRIVER",
            &format!("Requested ICD {path} was wrong bit-type. Ignoring this JSON"),
        );
        assert!(
            outcome.log("ERROR").is_empty() && outcome.log("ERROR | DRIVER").is_empty(),
            "{}",
            outcome.all()
        );
    });
}

/// DRV-255: a library that is not a driver is rejected.
#[test]
fn drv_255_an_unrelated_library_is_rejected() {
    case(|scene| {
        let outcome = beside(scene, "libm.so.6");
        outcome.logged_with("ERROR", "libm.so.6");
    });
}

/// DRV-60: a file with two names is loaded once, under the first name.
#[test]
fn drv_060_a_library_loaded_under_another_name_is_noted() {
    case(|scene| {
        scene.driver("a").device("one");
        let (first, second) = (scene.library("a"), scene.path("libraries/other_name.so"));
        scene.driver("b").library_path(&second.display().to_string());
        // The first run builds the scene, so the test creates the second name after this run.
        scene.run(|vk| assert_eq!(names(vk), ["one"])).ok();
        scene.on_disk(|| fs::hard_link(&first, &second).expect("a hard link can be made"));
        let outcome = scene.run(|vk| assert_eq!(names(vk), ["one", "one"]));
        let message = format!(
            "Path to given binary {} was found to differ from OS loaded path {}",
            second.display(),
            first.display()
        );
        outcome.ok().logged("WARNING | LAYER", &message);
    });
}

/// DRV-60: a symbolic link has the same canonical path as its target, so the log has no message about a different path.
#[test]
fn drv_060_a_symbolic_link_is_not_noted() {
    case(|scene| {
        scene.driver("a").device("one");
        let (target, link) = (scene.library("a"), scene.folder("links").join("link.so"));
        scene.driver("b").library_path(&link.display().to_string()).unlisted();
        scene.run(|vk| assert_eq!(names(vk), ["one"])).ok();
        scene.on_disk(|| symlink(target, link).expect("a link can be made"));
        let manifest = scene.manifest("b");
        scene.env("VK_DRIVER_FILES", manifest);
        scene
            .run(|vk| drop(vk.spec().create()))
            .ran()
            .not_logged("was found to differ");
    });
}

/// DRV-232: the libraries of drivers are unloaded when the instance is destroyed.
#[test]
fn drv_232_the_instance_closes_its_drivers() {
    case(|scene| {
        scene.driver("a").device("one");
        let outcome = scene.run(|vk| {
            let instance = vk.instance();
            vk.mark("created");
            instance.destroy();
            vk.mark("destroyed");
        });
        let lines = outcome.ok().between("created", "destroyed");
        assert_eq!(
            lines,
            ["a vkDestroyInstance alloc=null", "a unload live=[]"],
            "{}",
            outcome.all()
        );
    });
}

/// DRV-232, DRV-61: a creation that fails closes the libraries that it opened.
#[test]
fn drv_232_a_failed_creation_closes_its_drivers() {
    case(|scene| {
        scene.driver("a").device("one").fail("vkCreateInstance", -3);
        scene.driver("b").missing("vkCreateInstance");
        let outcome = scene.run(|vk| {
            vk.mark("before");
            assert_eq!(vk.spec().create().err(), Some(vk::Result::ERROR_INCOMPATIBLE_DRIVER));
            vk.mark("after");
        });
        let lines = outcome.ok().between("before", "after");
        for driver in ["a", "b"] {
            assert!(lines.contains(&format!("{driver} load").as_str()), "{}", outcome.all());
            assert!(
                lines.contains(&format!("{driver} unload live=[]").as_str()),
                "{}",
                outcome.all()
            );
        }
    });
}

/// DRV-233, APP-69, DRV-234: the libraries of drivers remain open after the extension query, and are closed when an instance is destroyed.
#[test]
fn drv_233_the_extension_query_keeps_libraries_open() {
    case(|scene| {
        scene.driver("a").device("one");
        let outcome = scene.run(|vk| {
            vk.extensions().expect("the query succeeds");
            vk.mark("queried");
            vk.extensions().expect("the query succeeds");
            let instance = vk.instance();
            vk.mark("created");
            instance.destroy();
            vk.mark("destroyed");
        });
        let outcome = outcome.ok();
        let middle = outcome.between("queried", "created");
        assert!(!middle.iter().any(|line| line.contains("load")), "{}", outcome.all());
        assert!(
            outcome.between("created", "destroyed").contains(&"a unload live=[]"),
            "{}",
            outcome.all()
        );
    });
}

/// DRV-234: the destruction of every instance closes libraries that only a query left open. This instance does not have to be the last
/// instance.
#[test]
fn drv_234_every_destruction_lets_unused_libraries_go() {
    case(|scene| {
        scene.driver("a").device("one").unlisted();
        scene.driver("b").device("two").unlisted();
        let (a, b) = (scene.manifest("a"), scene.manifest("b"));
        scene.env("VK_DRIVER_FILES", &a);
        let outcome = scene.run(move |vk| {
            vk.extensions().expect("the query succeeds");
            vk.set_env("VK_DRIVER_FILES", b.to_str());
            let (first, second) = (vk.instance(), vk.instance());
            vk.mark("created");
            first.destroy();
            vk.mark("one destroyed");
            second.destroy();
        });
        let outcome = outcome.ok();
        assert!(
            outcome
                .between("created", "one destroyed")
                .contains(&"a unload live=[]"),
            "{}",
            outcome.all()
        );
    });
}

/// DRV-234, APP-9, APP-230a: if the process closes one of two handles of the loader, the libraries that a query left open remain loaded,
/// and the loader can be loaded again.
#[test]
fn drv_234_unloading_the_loader_lets_libraries_go() {
    case(|scene| {
        scene.driver("a").device("one");
        let outcome = scene.run(|vk| {
            let mut other = vk.again();
            other.extensions().expect("the query succeeds");
            vk.mark("queried");
            // The first handle prevents the unloading of the library, so no driver is unloaded.
            other.reload(|| vk.mark("one handle less"));
            assert_eq!(names(vk), ["one"]);
        });
        let outcome = outcome.ok();
        assert!(
            outcome.between("queried", "one handle less").is_empty(),
            "{}",
            outcome.all()
        );
    });
}

/// DRV-235, DRV-232, DRV-240: libraries close in the order in which they were opened. The order is the same after an instance, after a
/// failed creation, after a query that left libraries open, and after the early close of one library.
#[test]
fn drv_235_libraries_close_in_the_order_in_which_they_were_opened() {
    const NAMES: [&str; 5] = ["idle", "a", "b", "c", "d"];
    case(|scene| {
        scene.driver("idle");
        for name in &NAMES[1..] {
            scene.driver(name).device("one");
        }
        let outcome = scene.run(|vk| {
            vk.instance().destroy();
            vk.mark("queried");
            vk.extensions().expect("the query succeeds");
            vk.instance().destroy();
            vk.mark("fewer");
            vk.extensions().expect("the query succeeds");
            assert_eq!(names(vk).len(), 4, "the idle driver leaves at once");
            vk.mark("failed");
            for name in NAMES {
                vk.add_lines(name, "fail vkCreateInstance -3");
            }
            assert!(vk.spec().create().is_err());
            vk.mark("end");
        });
        let outcome = outcome.ok();
        let left = |from: &str, to: &str| -> Vec<String> {
            let lines = outcome.between(from, to);
            let left = lines.iter().filter_map(|line| line.split_once(" unload"));
            left.map(|(name, _)| name.to_owned()).collect()
        };
        let journal = outcome.journal();
        let first: Vec<&str> = journal
            .iter()
            .filter_map(|line| line.split_once(" unload").map(|(name, _)| name))
            .take(NAMES.len())
            .collect();
        assert_eq!(first, NAMES, "{}", outcome.all());
        for (from, to) in [("queried", "fewer"), ("fewer", "failed"), ("failed", "end")] {
            assert_eq!(left(from, to), NAMES, "{from}: {}", outcome.all());
        }
    });
}

/// DRV-236, APP-112: with `VK_LOADER_DISABLE_DYNAMIC_LIBRARY_UNLOADING=1`, driver libraries remain loaded.
#[test]
fn drv_236_unloading_can_be_switched_off() {
    case(|scene| {
        scene.driver("a").device("one");
        for (value, stays) in [("1", true), ("0", false), ("11", false), ("true", false), ("", false)] {
            scene.env("VK_LOADER_DISABLE_DYNAMIC_LIBRARY_UNLOADING", value);
            let outcome = scene.run(|vk| {
                vk.instance().destroy();
                vk.mark("destroyed");
            });
            let outcome = outcome.ok();
            let journal = outcome.journal();
            let destroyed = journal.iter().position(|line| *line == "== destroyed");
            let unloaded = journal.iter().position(|line| *line == "a unload live=[]");
            assert_eq!(unloaded > destroyed, stays, "`{value}`\n{}", outcome.all());
            if stays {
                outcome.logged("WARNING", "Vulkan Loader: library unloading is disabled");
            } else {
                outcome.not_logged("library unloading is disabled");
            }
        }
    });
}

/// DRV-235: instances are destroyed before their libraries are closed.
#[test]
fn drv_235_instances_end_before_their_libraries() {
    case(|scene| {
        scene.driver("a").device("one");
        scene.driver("b").device("two");
        let outcome = scene.run(|vk| {
            let instance = vk.instance();
            vk.mark("created");
            instance.destroy();
            vk.mark("destroyed");
        });
        let outcome = outcome.ok();
        let lines = outcome.between("created", "destroyed");
        let place = |wanted: &str| {
            lines
                .iter()
                .position(|line| line.starts_with(wanted))
                .expect("the line is there")
        };
        for driver in ["a", "b"] {
            assert!(
                place(&format!("{driver} vkDestroyInstance")) < place(&format!("{driver} unload")),
                "{}",
                outcome.all()
            );
        }
    });
}

/// DRV-239: loading the loader's library opens no driver.
#[test]
fn drv_239_loading_the_loader_opens_no_driver() {
    case(|scene| {
        scene.driver("a").device("one");
        let outcome = scene.run(|vk| {
            vk.version();
            vk.layers().expect("the query succeeds");
        });
        assert_eq!(outcome.ok().journal(), ["== end"]);
    });
}
