//! Tests of the published list. In these tests, devices appear and disappear, and packages are read, fail and change.

use super::*;
use crate::package::{Described, Fault, InnerPath, Manifest, class_of};
use std::time::Duration;

/// The state of the service, with a simulated clock.
struct Scene {
    drivers: Drivers<&'static str>,
    start: Instant,
    now: Instant,
    jobs: Vec<Job>,
    /// Packages for 32-bit programs that exist. Jobs for others end at once.
    narrow: &'static [&'static str],
}

fn rules() -> Rules {
    let rule = |driver: &str, packages: &[&str]| Rule {
        driver: Some(driver.to_owned()),
        packages: packages.iter().map(|name| (*name).to_owned()).collect(),
        ..Rule::default()
    };
    Rules {
        devices: vec![
            rule("one", &["a"]),
            rule("two", &["a", "b"]),
            rule("three", &["c", "b"]),
        ],
        fallback: "soft".to_owned(),
        allow_fallback: true,
    }
}

fn loaded(library: &'static str) -> Option<Read<&'static str>> {
    let text =
        format!(r#"{{"file_format_version":"1","ICD":{{"library_path":"lib{library}.so","api_version":"1.0.0"}}}}"#);
    Some(Ok(Box::new(Loaded {
        manifest: Manifest::read(text.as_bytes(), "m").unwrap(),
        libraries: ["", "libneeded.so"]
            .map(|name| Handed {
                about: Described {
                    name: name.into(),
                    path: InnerPath::try_from("lib.so".to_owned()).unwrap(),
                    symbols: 0,
                    c_library: String::new(),
                },
                library,
            })
            .into(),
    })))
}

impl Scene {
    fn new() -> Self {
        Self::with(rules())
    }

    fn with(rules: Rules) -> Self {
        let now = Instant::now();
        Self {
            drivers: Drivers::new(rules),
            start: now,
            now,
            jobs: Vec::new(),
            narrow: &[],
        }
    }

    /// Reports device nodes that have been present for a long time, with the names of their kernel drivers.
    fn devices(&mut self, nodes: &[(&str, &str)]) {
        let seen = |(node, driver): &(&str, &str)| Seen {
            node: (*node).to_owned(),
            identity: Identity {
                driver: (*driver).to_owned(),
                ..Identity::default()
            },
            age: Duration::from_secs(1),
        };
        self.drivers.devices_seen(self.now, nodes.iter().map(seen).collect());
        self.take_jobs();
    }

    /// Takes the new jobs, and finishes those for packages that never exist.
    fn take_jobs(&mut self) {
        for job in self.drivers.take_jobs() {
            let package = job.package.as_str();
            if class_of(package) == Class::Bits64 || self.narrow.contains(&package) {
                self.jobs.push(job);
            } else {
                self.finish(package, (!job.is_recheck).then_some(Err(Fault::Absent)));
            }
        }
    }

    fn wait(&mut self, milliseconds: u64) {
        self.now += Duration::from_millis(milliseconds);
        self.drivers.advance(self.now);
        self.take_jobs();
    }

    fn jobs(&mut self) -> Vec<String> {
        let jobs = std::mem::take(&mut self.jobs).into_iter();
        jobs.map(|job| format!("{} {}", if job.is_recheck { "recheck" } else { "load" }, job.package))
            .collect()
    }

    fn load(&mut self, package: &'static str) {
        self.finish(package, loaded(package));
    }

    fn fail(&mut self, package: &str) {
        self.finish(package, Some(Err(Fault::Absent)));
    }

    fn finish(&mut self, package: &str, read: Option<Read<&'static str>>) {
        self.drivers.package_finished(self.now, package, read);
        self.take_jobs();
    }

    fn published(&self) -> Vec<&str> {
        self.drivers
            .published_for(None)
            .map(|driver| driver.published.key.as_str())
            .collect()
    }

    fn is_pending(&self) -> bool {
        self.drivers.is_pending(self.now)
    }

    fn active(&self) -> Vec<&[u64]> {
        self.drivers.served().iter().map(|served| &*served.active).collect()
    }
}

#[test]
fn lsv_3_and_4_a_key_is_pending_until_all_is_read() {
    let mut scene = Scene::new();
    let look = |scene: &Scene| match scene.drivers.look_up(scene.now, "0-liba.so") {
        Lookup::Found(_) => "found",
        Lookup::Pending => "pending",
        Lookup::Absent => "absent",
    };
    assert_eq!(look(&scene), "pending");
    scene.devices(&[("renderD128", "one")]);
    assert_eq!((look(&scene), scene.jobs()), ("pending", vec!["load a".to_owned()]));
    scene.load("a");
    assert_eq!((look(&scene), scene.is_pending()), ("found", false));
    assert!(matches!(scene.drivers.look_up(scene.now, "1-liba.so"), Lookup::Absent));
}

#[test]
fn lsv_10_devices_share_a_package() {
    let mut scene = Scene::new();
    scene.devices(&[("renderD128", "one"), ("renderD129", "two")]);
    assert_eq!(scene.jobs(), ["load a"]);
    scene.load("a");
    assert_eq!(scene.published(), ["0-liba.so"]);
    assert_eq!(scene.active(), [[0], [0]]);
    // The package remains published, because the second device still needs the package.
    scene.devices(&[("renderD129", "two")]);
    scene.wait(20_000);
    assert_eq!(scene.published(), ["0-liba.so"]);
}

#[test]
fn lsv_11_what_is_read_blocks_and_what_failed_does_not() {
    let mut scene = Scene::new();
    scene.devices(&[("renderD128", "two")]);
    assert_eq!(scene.jobs(), ["load a"]);
    assert_eq!(scene.active(), [[0; 0]]);
    scene.fail("a");
    assert_eq!(scene.jobs(), ["load b"]);
    assert!(scene.is_pending() && scene.published().is_empty());
    scene.load("b");
    assert_eq!((scene.active(), scene.published()), (vec![&[4][..]], vec!["4-libb.so"]));
}

#[test]
fn lsv_11_a_shared_package_blocks_only_behind_it() {
    let mut scene = Scene::new();
    scene.devices(&[("renderD128", "two"), ("renderD129", "three")]);
    assert_eq!(scene.jobs(), ["load a", "load c"]);
    scene.fail("c");
    assert_eq!(scene.jobs(), ["load b"]);
    scene.load("b");
    // The second device already has a driver, and the first device waits for its preferred package.
    assert_eq!(scene.active(), [&[][..], &[6]]);
    scene.load("a");
    assert_eq!(scene.active(), [[0], [6]]);
    assert_eq!(scene.published(), ["0-liba.so", "6-libb.so"]);
}

#[test]
fn lsv_6_and_12_a_manifest_goes_with_its_device() {
    let mut scene = Scene::new();
    scene.devices(&[("renderD128", "one")]);
    scene.load("a");
    let generation = scene.drivers.generation();
    scene.devices(&[]);
    assert!(scene.published().is_empty() && scene.drivers.generation() > generation);
}

#[test]
fn lsv_56_an_instance_outlives_a_device_that_flaps() {
    let mut scene = Scene::new();
    scene.devices(&[("renderD128", "one")]);
    scene.load("a");
    scene.jobs();
    for _ in 0..5 {
        scene.devices(&[]);
        scene.wait(9_000);
        scene.devices(&[("renderD128", "one")]);
        assert_eq!(scene.published(), ["0-liba.so"]);
    }
    assert!(!scene.jobs().contains(&"load a".to_owned()));
    scene.devices(&[]);
    scene.wait(10_000);
    scene.devices(&[("renderD128", "one")]);
    assert_eq!(scene.jobs().last().map(String::as_str), Some("load a"));
    scene.load("a");
    // The service never reuses a number (LSV-29).
    assert_eq!(scene.published(), ["4-liba.so"]);
}

#[test]
fn lsv_13_the_software_driver_comes_last() {
    let mut scene = Scene::new();
    scene.devices(&[("renderD128", "one"), ("renderD129", "nobody's")]);
    assert_eq!(scene.jobs(), ["load a"]);
    assert_eq!(scene.active(), [[0; 0]; 2]);
    scene.fail("a");
    assert_eq!(scene.jobs(), ["load soft"]);
    scene.load("soft");
    assert_eq!(scene.published(), ["3-libsoft.so"]);
    assert_eq!(scene.active(), [[0; 0]; 2]);
    // The device now has the package `c`, which contains a hardware driver, so the service no longer publishes the software driver.
    scene.devices(&[("renderD128", "three")]);
    scene.load("c");
    assert_eq!(scene.published(), ["4-libc.so"]);
}

#[test]
fn lsv_31_a_package_that_changes_is_a_new_instance() {
    let mut scene = Scene::new();
    scene.devices(&[("renderD128", "one")]);
    scene.load("a");
    scene.jobs();
    scene.drivers.packages_touched(scene.now);
    scene.drivers.packages_touched(scene.now);
    assert!(scene.jobs().is_empty() && scene.is_pending());
    scene.wait(200);
    assert_eq!(scene.jobs(), ["recheck a"]);
    // The service publishes the old manifest until it has read the changed package.
    assert_eq!(scene.published(), ["0-liba.so"]);
    scene.finish("a", None);
    assert_eq!((scene.published(), scene.is_pending()), (vec!["0-liba.so"], false));

    scene.drivers.packages_touched(scene.now);
    scene.wait(200);
    scene.load("a");
    assert_eq!(scene.published(), ["3-liba.so"]);
    assert!(matches!(scene.drivers.look_up(scene.now, "0-liba.so"), Lookup::Absent));
}

#[test]
fn lsv_31_a_change_while_a_package_is_read_is_not_lost() {
    let mut scene = Scene::new();
    scene.devices(&[("renderD128", "one")]);
    scene.jobs();
    scene.drivers.packages_touched(scene.now);
    scene.wait(300);
    assert!(scene.jobs().is_empty());
    scene.fail("a");
    scene.wait(200);
    assert!(scene.jobs().contains(&"recheck a".to_owned()));
}

#[test]
fn lsv_31_a_package_that_changes_while_it_is_read_is_read_again() {
    let mut scene = Scene::new();
    scene.devices(&[("renderD128", "one")]);
    scene.jobs();
    for _ in 0..2 {
        scene.finish("a", Some(Err(Fault::Changed("a".to_owned()))));
        assert!(!scene.jobs().contains(&"recheck a".to_owned()) && scene.is_pending());
        scene.wait(1000);
        assert!(scene.jobs().contains(&"recheck a".to_owned()));
    }
    scene.load("a");
    assert_eq!(scene.published().len(), 1);
}

#[test]
fn lsv_50_packages_have_a_limit() {
    let names: Vec<_> = (0..=wire::MOST_PACKAGES).map(|number| format!("p{number}")).collect();
    let mut scene = Scene::with(Rules {
        devices: vec![Rule {
            packages: names.clone(),
            ..Rule::default()
        }],
        allow_fallback: false,
        ..rules()
    });
    scene.devices(&[("renderD128", "x")]);
    for name in &names[..wire::MOST_PACKAGES] {
        scene.fail(name);
    }
    let last = scene.drivers.instances().last().unwrap();
    assert_eq!(scene.drivers.instances().count(), 2 * names.len());
    assert!(
        scene
            .drivers
            .instances()
            .any(|(_, instance)| { matches!(&instance.state, State::Failed(Fault::TooMany(64))) }),
        "{last:?}"
    );
    assert!(!scene.is_pending());
}

#[test]
fn lsv_50_each_word_size_has_its_own_drivers() {
    let mut scene = Scene::new();
    scene.narrow = &["a-32", "soft-32"];
    scene.devices(&[("renderD128", "two"), ("renderD129", "three")]);
    assert_eq!(scene.jobs(), ["load a", "load c", "load a-32"]);
    let keys = |scene: &Scene, class| -> Vec<String> {
        let drivers = scene.drivers.published_for(class);
        drivers.map(|driver| driver.published.key.clone()).collect()
    };
    scene.load("c");
    scene.load("a");
    assert_eq!(scene.published(), ["0-liba.so", "1-libc.so"]);
    scene.load("a-32");
    assert_eq!(scene.active(), [&[0, 2][..], &[1]]);
    assert_eq!(keys(&scene, Some(Class::Bits64)), ["0-liba.so", "1-libc.so"]);
    assert_eq!(keys(&scene, Some(Class::Bits32)), ["2-liba-32.so"]);
    assert_eq!(keys(&scene, None).len(), 3);
    // Without a driver of its word size, a program gets the software driver, although other programs have drivers.
    scene.fail("a-32");
    assert_eq!(scene.jobs(), ["load soft-32"]);
    scene.load("soft-32");
    assert_eq!(keys(&scene, Some(Class::Bits32)), ["6-libsoft-32.so"]);
    assert_eq!(keys(&scene, Some(Class::Bits64)), ["0-liba.so", "1-libc.so"]);
}

#[test]
fn the_time_of_the_next_step_is_known() {
    let mut scene = Scene::new();
    scene.devices(&[("renderD128", "one")]);
    scene.load("a");
    assert_eq!(scene.drivers.next(scene.now), None);
    scene.devices(&[]);
    assert_eq!(scene.drivers.next(scene.now), Some(scene.start + KEPT));
}
