//! Runs a test, in the test process and in its children, and decides whether the test passed.

use std::any::type_name;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use crate::known::Expected;
use crate::{Scene, left_out, library, peer, skip, skipped, target};

/// Runs a test. The function takes the test's name from the path of its caller, so only a test can call this function.
///
/// On a Khronos loader (`VKL_PEER=1`), a test that `tests/peer.txt` lists for the loader's version must fail. A test that
/// `tests/targets.txt` lists for the target (`VKL_TARGET`) must fail too. A listed test that passes is an error, so the lists remain
/// correct.
pub fn case<F: FnOnce(&mut Scene)>(body: F) {
    let path = path_of::<F>();
    if left_out::reason(&path).is_some() {
        return left_out::leave_out(&path);
    }
    let mut scene = Scene::open(&path);
    if scene.is_child() {
        body(&mut scene);
        // The child was started for one call of `Scene::run`, which ends the child. This line is reached only if the test did not make this
        // call.
        eprintln!("the case ended without the run this process was started for");
        std::process::exit(120);
    }
    let result = catch_unwind(AssertUnwindSafe(|| body(&mut scene)));
    let keep = result.is_err() && std::env::var_os("VKL_KEEP").is_some();
    if keep {
        eprintln!("kept {}", scene.root().display())
    } else {
        scene.remove()
    }
    if let Some(reason) = result.as_ref().err().and_then(|payload| skipped::reason(&**payload)) {
        #[cfg(target_os = "linux")]
        crate::catalogue::note(&path, "skipped");
        return skip(&format!("{path}: {reason}"));
    }
    #[cfg(target_os = "linux")]
    crate::catalogue::note(&path, scene.catalogue_state());
    let expected = match library::peer_version() {
        Some(version) => peer::expected(version, &path),
        None => expected_here(&path),
    };
    match (result, expected) {
        (Ok(()), Expected::Pass | Expected::Either(_)) => {}
        (Ok(()), Expected::Fail(reason)) => panic!("a list has {path} ({reason}), but it passes"),
        (Err(payload), Expected::Pass) => resume_unwind(payload),
        (Err(_), Expected::Fail(reason) | Expected::Either(reason)) => eprintln!("differs as expected: {reason}"),
    }
}

/// Returns the expected result of a test, from the lists for the kind of catalogue and for the target.
fn expected_here(path: &str) -> Expected {
    #[cfg(target_os = "linux")]
    if let listed @ (Expected::Fail(_) | Expected::Either(_)) = crate::catalogue::expected(path) {
        return listed;
    }
    target::expected(path)
}

/// Returns the path of the function that contains the closure, without the crate. The test runner uses this path as the name of the test.
fn path_of<F>() -> String {
    let full = type_name::<F>();
    let function = full.split("::{{closure}}").next().unwrap_or(full);
    function.split_once("::").map_or(function, |(_, path)| path).into()
}
