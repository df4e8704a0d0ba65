//! Tests of the filters that select or disable drivers (DRV-24 to DRV-28).

use loader_tests::ash::vk;
use loader_tests::{Outcome, Scene, case};

const SELECT: &str = "VK_LOADER_DRIVERS_SELECT";
const DISABLE: &str = "VK_LOADER_DRIVERS_DISABLE";

fn two_drivers(scene: &mut Scene) {
    scene.driver("alpha").device("one");
    scene.driver("beta").device("two");
}

/// Runs with `select` and `disable` as the values of the variables (an empty value means unset), and expects the devices in `expected`.
#[track_caller]
fn remain(scene: &mut Scene, select: &str, disable: &str, expected: &[&str]) -> Outcome {
    for (variable, value) in [(SELECT, select), (DISABLE, disable)] {
        if value.is_empty() {
            scene.unset(variable)
        } else {
            scene.env(variable, value)
        };
    }
    let outcome = scene.run(|vk| match vk.spec().create() {
        Ok(instance) => assert_eq!(instance.device_names(), expected),
        Err(error) => assert!(
            error == vk::Result::ERROR_INCOMPATIBLE_DRIVER && expected.is_empty(),
            "{error}"
        ),
    });
    println!("select `{select}`, disable `{disable}`");
    outcome.ok();
    // DRV-28: a filtered library is never opened.
    for (driver, device) in [("alpha", "one"), ("beta", "two")] {
        let opened = !outcome.calls(driver, "load").is_empty();
        assert_eq!(opened, expected.contains(&device), "{driver}\n{}", outcome.all());
    }
    outcome
}

/// DRV-25, APP-220, APP-222: the filters accept names with stars at either end, in any case.
#[test]
fn drv_025_globs() {
    case(|scene| {
        two_drivers(scene);
        let rows: &[(&str, &[&str])] = &[
            ("alpha.json", &["one"]),
            ("ALPHA.Json", &["one"]),
            ("alpha", &[]),
            ("alpha*", &["one"]),
            ("a*", &["one"]),
            ("*.json", &["two", "one"]),
            ("*ta.json", &["two"]),
            ("*ET*", &["two"]),
            ("*", &["two", "one"]),
            ("**", &["two", "one"]),
            ("~all~", &["two", "one"]),
            ("~ALL~", &["two", "one"]),
            ("~other~", &[]),
            ("~implicit~", &[]),
            ("al*ha.json", &[]),
            ("alph?.json", &[]),
            (" alpha*", &[]),
            ("nothing,beta*", &["two"]),
            (",,beta*,,", &["two"]),
        ];
        for (glob, expected) in rows {
            remain(scene, glob, "", expected);
        }
    });
}

/// DRV-25, APP-220: patterns match names in any case.
#[test]
fn drv_025_globs_match_in_any_case() {
    case(|scene| {
        scene.driver("DELTA").device("one");
        scene.driver("epsilon").device("two");
        for glob in ["delta.json", "dELTa*", "*Lta.JSON", "*eLt*"] {
            scene.env(SELECT, glob);
            let outcome = scene.run(|vk| assert_eq!(vk.instance().device_names(), ["one"], "{glob}"));
            outcome.ok();
        }
        for glob in ["EPSILON.json", "ePSi*", "*LON.Json", "*SIL*"] {
            scene.env(SELECT, glob);
            let outcome = scene.run(|vk| assert_eq!(vk.instance().device_names(), ["two"], "{glob}"));
            outcome.ok();
        }
    });
}

/// DRV-26, APP-227: if both filters are set, the loader uses a selected driver although the other filter disables it.
#[test]
fn drv_026_both_filters_together() {
    case(|scene| {
        two_drivers(scene);
        let rows: &[(&str, &str, &[&str])] = &[
            ("", "alpha*", &["two"]),
            ("", "~all~", &[]),
            ("", "~other~", &["two", "one"]),
            ("alpha*", "alpha*", &["one"]),
            ("alpha*", "~all~", &["one"]),
            ("alpha*", "beta*", &["one"]),
            ("*", "*", &["two", "one"]),
        ];
        for (select, disable, expected) in rows {
            remain(scene, select, disable, expected);
        }
    });
}

/// DRV-25, DRV-26, APP-221, DRV-6: a filter uses at most 16 patterns.
#[test]
fn drv_025_at_most_sixteen_globs_count() {
    case(|scene| {
        two_drivers(scene);
        let fifteen = vec!["x"; 15].join(",");
        remain(scene, &format!("{fifteen},alpha*"), "", &["one"]);
        remain(scene, &format!("{fifteen},x,alpha*"), "", &[]);
    });
}

/// APP-221, DRV-25: if a filter variable has more than 16 patterns, a message names the variable.
#[test]
fn app_221_globs_beyond_the_sixteenth_are_told() {
    case(|scene| {
        two_drivers(scene);
        let globs = |count: usize| vec!["x"; count].join(",");
        for variable in [SELECT, DISABLE] {
            let value = |count| {
                if variable == SELECT {
                    format!("*,{}", globs(count - 1))
                } else {
                    globs(count)
                }
            };
            scene.env(variable, value(16));
            let run = |scene: &mut Scene| scene.run(|vk| drop(vk.instance()));
            run(scene).ok().not_logged("more than 16 entries");
            scene.env(variable, value(17));
            let line = format!("{variable} has more than 16 entries; those behind the first 16 are ignored");
            run(scene).ok().logged("WARNING", &line);
            scene.unset(variable);
        }
    });
}

/// DRV-27: the log names the filter that excluded a driver.
#[test]
fn drv_027_each_filter_has_its_message() {
    case(|scene| {
        two_drivers(scene);
        let disabled = "Driver \"alpha.json\" ignored because it was disabled by env var 'VK_LOADER_DRIVERS_DISABLE'";
        let unselected = "Driver \"alpha.json\" ignored because not selected by env var 'VK_LOADER_DRIVERS_SELECT'";
        remain(scene, "", "alpha*", &["two"]).logged("WARNING | DRIVER", disabled);
        remain(scene, "beta*", "", &["two"]).logged("WARNING | DRIVER", unselected);
        // The loader tests the disable filter first, so there is one message.
        remain(scene, "beta*", "alpha*", &["two"])
            .logged("WARNING | DRIVER", disabled)
            .not_logged(unselected);
    });
}

/// DRV-28, APP-227: the loader parses a filtered manifest, and logs it as found.
#[test]
fn drv_028_filtered_manifests_are_parsed_first() {
    case(|scene| {
        two_drivers(scene);
        let path = scene.text_path("drivers/alpha.json");
        remain(scene, "", "alpha*", &["two"])
            .logged_with("DRIVER", &format!("Found ICD manifest file {path}, version"));
    });
}

/// APP-227: the log contains a message if filters exclude every driver.
#[test]
fn app_227_filtering_everything_leaves_no_driver() {
    case(|scene| {
        two_drivers(scene);
        remain(scene, "", "*", &[]).logged_with("ERROR | DRIVER", "vkCreateInstance: Found no drivers!");
    });
}

/// DRV-28: the driver filters do not apply to drivers that the application passes directly.
#[test]
fn drv_028_direct_drivers_are_not_filtered() {
    case(|scene| {
        two_drivers(scene);
        scene.driver("direct").device("three").unlisted();
        scene.env(DISABLE, "*");
        let outcome = scene.run(|vk| {
            let direct = [vk::DirectDriverLoadingInfoLUNARG {
                pfn_get_instance_proc_addr: vk.direct_driver("direct"),
                ..Default::default()
            }];
            let list = vk::DirectDriverLoadingListLUNARG::default()
                .mode(vk::DirectDriverLoadingModeLUNARG::INCLUSIVE)
                .drivers(&direct);
            let spec = vk.spec().extensions(&["VK_LUNARG_direct_driver_loading"]).next(&list);
            assert_eq!(spec.create().expect("vkCreateInstance").device_names(), ["three"]);
        });
        outcome.ok();
    });
}
