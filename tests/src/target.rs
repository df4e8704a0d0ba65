//! Committed list of the tests that cannot pass on a target whose processor, word size or C library differs from this machine's, often in
//! an emulator.

use crate::known::{Expected, List};
use std::env;

/// Returns the expected result of the test with this path on the target that `VKL_TARGET` names. Without a target, every test must pass.
pub(crate) fn expected(path: &str) -> Expected {
    match env::var("VKL_TARGET") {
        Ok(target) if !target.is_empty() => list().expected(&target, path),
        _ => Expected::Pass,
    }
}

fn list() -> List<'static, String> {
    List::parse("targets.txt", include_str!("../targets.txt"), |name| Some(name.into()))
}

#[cfg(test)]
mod tests {
    #[test]
    fn rows_have_names_and_reasons_and_no_case_is_listed_twice_for_a_target() {
        crate::known::tests::is_sound(&super::list());
    }
}
