//! Names of results and signals.

/// Defines the table of `VkResult` values and their names.
macro_rules! results {
    ($($name:ident = $value:literal,)*) => {
        const RESULTS: &[(i32, &str)] = &[$(($value, concat!("VK_", stringify!($name)))),*];
    };
}

results! {
    SUCCESS = 0,
    NOT_READY = 1,
    TIMEOUT = 2,
    INCOMPLETE = 5,
    ERROR_OUT_OF_HOST_MEMORY = -1,
    ERROR_OUT_OF_DEVICE_MEMORY = -2,
    ERROR_INITIALIZATION_FAILED = -3,
    ERROR_DEVICE_LOST = -4,
    ERROR_MEMORY_MAP_FAILED = -5,
    ERROR_LAYER_NOT_PRESENT = -6,
    ERROR_EXTENSION_NOT_PRESENT = -7,
    ERROR_FEATURE_NOT_PRESENT = -8,
    ERROR_INCOMPATIBLE_DRIVER = -9,
    ERROR_TOO_MANY_OBJECTS = -10,
    ERROR_FORMAT_NOT_SUPPORTED = -11,
    ERROR_FRAGMENTED_POOL = -12,
    ERROR_UNKNOWN = -13,
    ERROR_SURFACE_LOST_KHR = -1_000_000_000,
    ERROR_NATIVE_WINDOW_IN_USE_KHR = -1_000_000_001,
    ERROR_OUT_OF_DATE_KHR = -1_000_001_004,
    ERROR_NOT_PERMITTED = -1_000_174_001,
}

/// Returns a sentence for a place within another sentence: with a small first letter, unless it begins with a name, such as that of a variable.
pub(crate) fn as_clause(sentence: &str) -> String {
    let mut rest = sentence.chars();
    let first = rest.next();
    let is_name = rest
        .clone()
        .next()
        .is_some_and(|second| second.is_uppercase() || second == '_');
    if is_name {
        return sentence.into();
    }
    let first: String = first.into_iter().flat_map(char::to_lowercase).collect();
    format!("{first}{}", rest.as_str())
}

/// Returns the name of a `VkResult`, or its number if the name is unknown.
pub(crate) fn result(code: i32) -> String {
    match RESULTS.iter().find(|(known, _)| *known == code) {
        Some((_, name)) => (*name).into(),
        None => format!("VkResult {code}"),
    }
}

/// Signals that end processes, with their names.
const SIGNALS: &[(i32, &str)] = &[
    (libc::SIGHUP, "SIGHUP"),
    (libc::SIGINT, "SIGINT"),
    (libc::SIGQUIT, "SIGQUIT"),
    (libc::SIGILL, "SIGILL"),
    (libc::SIGTRAP, "SIGTRAP"),
    (libc::SIGABRT, "SIGABRT"),
    (libc::SIGBUS, "SIGBUS"),
    (libc::SIGFPE, "SIGFPE"),
    (libc::SIGKILL, "SIGKILL"),
    (libc::SIGSEGV, "SIGSEGV"),
    (libc::SIGPIPE, "SIGPIPE"),
    (libc::SIGALRM, "SIGALRM"),
    (libc::SIGTERM, "SIGTERM"),
    (libc::SIGUSR1, "SIGUSR1"),
    (libc::SIGUSR2, "SIGUSR2"),
    (libc::SIGXCPU, "SIGXCPU"),
    (libc::SIGXFSZ, "SIGXFSZ"),
    (libc::SIGSYS, "SIGSYS"),
];

/// Returns the name and number of a signal.
pub(crate) fn signal(number: i32) -> String {
    match SIGNALS.iter().find(|(known, _)| *known == number) {
        Some((_, name)) => format!("signal {number} ({name})"),
        None => format!("signal {number}"),
    }
}

/// Number that a shell adds to the number of a signal, to get the exit status of a command that the signal ended.
pub(crate) const OF_SHELL: i32 = 128;

/// Returns an exit status together with its usual meaning.
pub(crate) fn status(number: i32) -> String {
    let known = SIGNALS.iter().find(|(signal, _)| *signal == number - OF_SHELL);
    match (number, known) {
        (124, _) => "status 124, as of timeout if a command takes too long".into(),
        (126, _) => "status 126, as of a command that cannot be executed".into(),
        (127, _) => "status 127, as of a command or library that was not found".into(),
        (_, Some((signal, name))) => format!("status {number}, as of a command that signal {signal} ({name}) ended"),
        _ => format!("status {number}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_those_of_the_registry() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../registry/snapshot/enums.txt");
        let snapshot = std::fs::read_to_string(path).expect("the snapshot is there");
        for (value, name) in RESULTS {
            let line = format!("  value {name} {value}");
            assert!(snapshot.lines().any(|known| known == line), "{line}");
        }
    }

    #[test]
    fn names_keep_their_first_letter_within_a_sentence() {
        assert_eq!(as_clause("The layer is off"), "the layer is off");
        assert_eq!(as_clause("A variable"), "a variable");
        for name in ["VK_LOADER_LAYERS_DISABLE disables it", "NVIDIA's driver", "2 devices"] {
            assert_eq!(as_clause(name), name);
        }
    }

    #[test]
    fn what_has_no_name_keeps_its_number() {
        assert_eq!(result(-3), "VK_ERROR_INITIALIZATION_FAILED");
        assert_eq!(result(-77), "VkResult -77");
        assert_eq!(signal(11), "signal 11 (SIGSEGV)");
        assert_eq!(status(3), "status 3");
        assert!(status(139).ends_with("signal 11 (SIGSEGV) ended"));
    }
}
