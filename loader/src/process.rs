//! Functions that run when the library is loaded into the process and unloaded from the process (APP-9, APP-10, APP-230a).

use crate::driver::PreloadedDrivers;
use crate::generated::types::VK_HEADER_VERSION_COMPLETE;
use crate::unopened::{BeforeOpening as _, KnownDrivers};
use crate::{driver, instance, library, unopened};
use discovery::env::variable::{Separator, TABLE, Trust};
use discovery::env::{Environment, Variable, split};
use discovery::journal::LogBits;
use discovery::settings::DriverPolicies;
use discovery::version::ApiVersion;
use discovery::{log, trace};

/// Keywords of `VK_LOADER_DEBUG`, in the order in which prefixes are compared (APP-230).
const KEYWORDS: [(&str, LogBits); 10] = [
    ("all", EVERYTHING),
    ("warn", LogBits::WARN),
    ("info", LogBits::INFO),
    ("perf", LogBits::PERF),
    ("error", LogBits::ERROR),
    ("debug", LogBits::DEBUG),
    ("layer", LogBits::LAYER),
    ("driver", LogBits::DRIVER),
    ("implem", LogBits::DRIVER),
    ("icd", LogBits::DRIVER),
];

const EVERYTHING: LogBits = LogBits::ERROR
    .with(LogBits::WARN)
    .with(LogBits::INFO)
    .with(LogBits::DEBUG)
    .with(LogBits::PERF)
    .with(LogBits::DRIVER)
    .with(LogBits::LAYER)
    .with(LogBits::VALIDATION);

/// Upper bound on the length of an executable's path in the trace, in bytes.
const LONGEST_EXECUTABLE: usize = 4096;

os::at_load_and_unload!(on_load, on_unload);

extern "C" fn on_load() {
    let environment = Environment::process();
    if let Some(named) = environment.get(Variable::Trace) {
        trace::begin(&named);
        describe(&environment);
    }
    if let Some(value) = environment.get(Variable::Debug) {
        log::select(log_mask(&value));
    }
    KnownDrivers::read_mode(&environment);
    DriverPolicies::read(&environment);
    let version = ApiVersion(VK_HEADER_VERSION_COMPLETE);
    log::message(
        LogBits::INFO,
        format_args!(
            "Vulkan Loader Version {}.{}.{}",
            version.major(),
            version.minor(),
            version.patch()
        ),
    );
    #[cfg(vkl_steps_aside)]
    crate::aside::decide(version);
    if os::environment::TELLS_OF_IGNORED {
        tell_of_ignored();
    }
    if environment.get(Variable::DisableLibraryUnloading).as_deref() == Some(b"1") {
        library::keep_all();
        log::message(
            LogBits::WARN,
            format_args!("Vulkan Loader: library unloading is disabled"),
        );
    }
}

/// Logs the variables that are ignored because the process is elevated (DRV-5, APP-211). The values of these variables are not logged.
fn tell_of_ignored() {
    let secure = TABLE.iter().filter(|row| row.trust == Trust::Secure);
    for row in secure.filter(|row| os::environment::is_ignored(row.c_name)) {
        log::message(
            LogBits::INFO,
            format_args!(
                "The environment variable {} is ignored, because the process has elevated permissions",
                row.name
            ),
        );
    }
}

extern "C" fn on_unload() {
    #[cfg(vkl_steps_aside)]
    crate::aside::forget();
    PreloadedDrivers::release();
    instance::forget();
    driver::forget();
    unopened::forget();
    trace::end();
}

/// Writes to the trace: the library, the process, and the variables of [`TABLE`] that are set. Elevated processes write no trace.
fn describe(environment: &Environment<'_>) {
    let version = ApiVersion(VK_HEADER_VERSION_COMPLETE);
    trace::write("loaded", |record| {
        record.number("schema", trace::SCHEMA);
        record.version("version", version);
        record.number("word-size", usize::BITS.into());
        if let Some(own) = os::file_of(on_load as *const ()) {
            record.text("library", &own);
        }
        let mut room = [0; LONGEST_EXECUTABLE];
        if let Some(executable) = os::running_executable(&mut room) {
            record.text("executable", executable);
        }
        record.flag("elevated", false);
        let set = TABLE
            .iter()
            .filter_map(|row| Some((row.name, environment.get(row.variable)?)));
        record.objects("variables", set, |variable, (name, value)| {
            variable.word("name", name);
            variable.text("value", &value);
        });
    });
}

/// Returns the severities that `VK_LOADER_DEBUG` selects: any non-empty prefix of a keyword matches, and unknown words are ignored
/// (APP-230).
fn log_mask(value: &[u8]) -> LogBits {
    let selects = |item: &[u8]| KEYWORDS.iter().find(|(word, _)| word.as_bytes().starts_with(item));
    split(value, Separator::Comma)
        .filter(|item| !item.is_empty())
        .filter_map(selects)
        .fold(LogBits::NONE, |mask, (_, bits)| mask | *bits)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn app_230_keywords_match_by_prefix_in_a_fixed_order() {
        let cases: [(&[u8], LogBits); 8] = [
            (b"error", LogBits::ERROR),
            (b"e,w", LogBits::ERROR | LogBits::WARN),
            (b"d", LogBits::DEBUG),
            (b"i", LogBits::INFO),
            (b"ic,im", LogBits::DRIVER),
            (b"dr,layer", LogBits::DRIVER | LogBits::LAYER),
            (b"Error,errors,nonsense,", LogBits::NONE),
            (b"all", EVERYTHING),
        ];
        for (value, expected) in cases {
            assert_eq!(log_mask(value), expected, "{}", String::from_utf8_lossy(value));
        }
    }
}
