//! Tests of the exact texts and severities of messages, and of the limit on the decisions that a journal remembers.

use super::reason::{
    DriverLibraryReason, DriverManifestReason, FileReason, LayerLibraryProblem, LayerLibraryReason, LayerListReason,
    LayerManifestReason, LayerReason,
};
use super::testing::Lines;
use super::{Decision, Journal, LogBits, Reason, Source, Subject, Verdict};
use crate::text::Text;

impl Decision {
    /// Returns the log line about this decision; `None` for decisions that are not logged.
    fn message(&self) -> Option<(LogBits, Vec<u8>)> {
        Some((self.bits()?, os::render(format_args!("{}", self.text()))))
    }
}

fn decision(reason: Reason) -> Decision {
    Decision {
        subject: Subject::Layer,
        name: "NAME".into(),
        path: "PATH".into(),
        verdict: Verdict::Dropped(reason),
        source: Source::BuildTime,
    }
}

#[test]
fn exact_messages() {
    let error = LogBits::ERROR;
    let warn = LogBits::WARN;
    let info = LogBits::INFO;
    let layer = LogBits::LAYER;
    let driver = LogBits::DRIVER;
    let library = |problem, requested| Reason::from(LayerLibraryReason { problem, requested });
    #[rustfmt::skip]
    let cases: Vec<(&str, Reason, LogBits, &str)> = vec![
        ("DRV-19", FileReason::NotOpened.into(), error, "loader_get_json: Failed to open JSON file NAME"),
        ("DRV-51", FileReason::InvalidJson(None).into(), error, "loader_get_json: Invalid JSON file NAME."),
        ("DRV-49", DriverManifestReason::Variant(2).into(), info | driver, "loader_parse_icd_manifest: Driver's ICD JSON NAME 'api_version' field contains a non-zero variant value of 2.  Skipping ICD JSON."),
        ("DRV-51", DriverManifestReason::Architecture.into(), info, "loader_parse_icd_manifest: Driver library architecture doesn't match the current running architecture, skipping this driver"),
        ("DRV-27", DriverManifestReason::Disabled { pattern: Text::default() }.into(), warn | driver, "Driver \"NAME\" ignored because it was disabled by env var 'VK_LOADER_DRIVERS_DISABLE'"),
        ("DRV-27", DriverManifestReason::NotSelected.into(), warn | driver, "Driver \"NAME\" ignored because not selected by env var 'VK_LOADER_DRIVERS_SELECT'"),
        ("DRV-59", DriverLibraryReason::NotOpened(Text::default()).into(), error | driver, "loader_icd_scan: Failed loading library associated with ICD JSON NAME. Ignoring this JSON"),
        ("DRV-59", DriverLibraryReason::WrongArchitecture(Text::default()).into(), driver, "Requested ICD NAME was wrong bit-type. Ignoring this JSON"),
        ("DRV-111", DriverLibraryReason::CreationFailed(-3).into(), warn, "terminator_CreateInstance: Received return code -3 from call to vkCreateInstance in ICD NAME. Skipping this driver."),
        ("DRV-131", DriverLibraryReason::NoDevices.into(), info | driver, "Removing driver NAME due to not having any physical devices"),
        ("DRV-83", DriverLibraryReason::DirectNoFunction(1).into(), error | driver, "loader_add_direct_driver: VkDirectDriverLoadingInfoLUNARG structure at index 1 contains a NULL pointer for the pfnGetInstanceProcAddr member, skipping."),
        ("DRV-83", DriverLibraryReason::DirectNoCommand(0, "vkCreateInstance").into(), error | driver, "loader_add_direct_driver: Could not get 'vkCreateInstance' from VkDirectDriverLoadingInfoLUNARG structure at index 0, skipping."),
        ("DRV-83", DriverLibraryReason::DirectVersion(0, 6).into(), error | driver, "loader_add_direct_driver: VkDirectDriverLoadingInfoLUNARG structure at index 0 supports interface version 6, which is incompatible with the Loader Driver Interface version that supports the VK_LUNARG_direct_driver_loading extension, skipping."),
        ("LAY-31", LayerListReason::Duplicate { kept: "KEPT".into() }.into(), warn, "Removing layer NAME (PATH) because it is a duplicate of NAME (KEPT)"),
        ("LAY-94", LayerReason::DeviceLayer.into(), warn | layer, "Device layers are deprecated. Skipping layer NAME"),
        ("LAY-96", LayerReason::Variant(1).into(), info | layer, "Layer \"NAME\" has an 'api_version' field which contains a non-zero variant value of 1.  Skipping Layer."),
        ("LAY-101", LayerReason::Architecture.into(), info, "The library architecture in layer PATH doesn't match the current running architecture, skipping this layer"),
        ("LAY-125", LayerListReason::Disabled { pattern: Text::default() }.into(), warn | layer, "Layer \"NAME\" forced disabled because name matches filter of env var 'VK_LOADER_LAYERS_DISABLE'."),
        ("LAY-162", LayerListReason::ComponentMissing { component: "C".into(), index: 0 }.into(), warn, "verify_meta_layer_component_layers: Meta-layer NAME can't find component layer C at index 0.  Skipping this layer."),
        ("LAY-162", LayerListReason::ComponentOlder { version: (1, 2), index: 3, component_version: (1, 1) }.into(), warn, "verify_meta_layer_component_layers: Meta-layer uses API version 1.2, but component layer 3 has API version 1.1 that is lower.  Skipping this layer."),
        ("LAY-162", LayerListReason::ListsItself { index: 2 }.into(), warn, "verify_meta_layer_component_layers: Meta-layer NAME lists itself in its component layer list at index 2.  Skipping this layer."),
        ("LAY-162", LayerListReason::Recursive { component: "C".into() }.into(), warn, "verify_meta_layer_component_layers: Recursive dependency between Meta-layer NAME and  Meta-layer C.  Skipping this layer."),
        ("LAY-172", LayerListReason::OtherExecutable { executable: "/x".into() }.into(), info | layer, "--Override layer found but not used because app '/x' is not in 'app_keys' list!"),
        ("LAY-177", LayerListReason::Blacklisted.into(), LogBits::DEBUG, "loader_remove_layers_in_blacklist: Override layer is active and layer NAME is in the blacklist inside of it. Removing that layer from current layer list."),
        ("LAY-204", library(LayerLibraryProblem::NotOpened(Text::default()), true), error | layer, "Requested layer \"NAME\" failed to load!"),
        ("LAY-204", library(LayerLibraryProblem::NotOpened(Text::default()), false), info | layer, "Requested layer \"NAME\" failed to load."),
        ("LAY-204", library(LayerLibraryProblem::WrongArchitecture(Text::default()), true), error | layer, "Requested layer \"NAME\" was wrong bit-type!"),
        ("LAY-204", library(LayerLibraryProblem::NoSymbol("S".into()), false), error | layer, "loader_create_instance_chain: Failed to find 'S' in layer \"PATH\""),
        ("LAY-204", library(LayerLibraryProblem::NegotiationRefused { negotiate: "N".into(), result: -3, symbol: "S".into() }, false), error | layer, "loader_create_instance_chain: Failed to find 'S' in layer \"PATH\", whose N returned VkResult -3"),
    ];
    for (requirement, reason, bits, text) in cases {
        let message = decision(reason).message();
        assert_eq!(message, Some((bits, text.as_bytes().to_vec())), "{requirement}");
    }
}

#[cfg(all(feature = "service", target_os = "linux"))]
#[test]
fn exact_messages_about_a_service() {
    use crate::journal::reason::Fault::*;
    use crate::journal::reason::ServiceReason;
    let (error, warn, driver) = (LogBits::ERROR, LogBits::WARN, LogBits::DRIVER);
    let here = os::c_library().escape_ascii().to_string();
    let old = if here.is_empty() {
        (
            LogBits::INFO,
            "has a driver for the GNU C library, which this program does not use".to_owned(),
        )
    } else {
        (
            warn,
            format!("has a driver for version 2.38 of the C library, and this program has {here}"),
        )
    };
    #[rustfmt::skip]
    let cases = [
        ("LSV-42", NotReached(os::Errno(2)), warn, "cannot be reached: No such file or directory (os error 2)"),
        ("LSV-47", NotTrusted(7), error, "is run by user 7, who is not trusted"),
        ("LSV-42", TimedOut, warn, "gave no answer in time"),
        ("LSV-42", Lost, warn, "ended the connection"),
        ("LSV-46", Refused, warn, "answered \"2.38\""),
        ("LSV-34", BadReply, error, "sent an invalid answer"),
        ("LSV-3", NoLibrary, warn, "does not have the library"),
        ("LSV-50", WordSize, LogBits::INFO, &format!("has drivers for {}-bit programs only", 96 - usize::BITS)),
        ("LSV-47", FileNotTrusted, error, "sent a file that others can change"),
        ("LSV-67", OldCLibrary, old.0, &old.1),
    ];
    for (number, fault, bits, text) in cases {
        let words = "2.38".into();
        let message = decision(ServiceReason { fault, words }.into()).message();
        let text = format!("The driver service {text}. Going on without NAME");
        assert_eq!(message, Some((bits | driver, text.into())), "{number}");
    }
}

#[test]
fn silent_reasons() {
    let silent: [Reason; 5] = [
        DriverManifestReason::LayerManifest.into(),
        DriverManifestReason::Portability.into(),
        LayerManifestReason::DriverManifest.into(),
        LayerReason::UnknownType.into(),
        FileReason::NotAnObject.into(),
    ];
    for reason in silent {
        assert_eq!(decision(reason).message(), None);
    }
}

#[test]
fn every_decision_is_logged_but_only_so_many_are_remembered() {
    let lines = Lines::default();
    let mut journal = Journal::new(&lines);
    for _ in 0..5000 {
        journal.decide(decision(FileReason::NotOpened.into()));
    }
    assert_eq!(journal.decisions().len(), 4096);
    assert_eq!(journal.forgotten(), 904);
    assert_eq!(lines.take().len(), 5000);
}

#[test]
fn drv_27_names_the_file_without_its_folder() {
    let mut disabled = decision(
        DriverManifestReason::Disabled {
            pattern: Text::default(),
        }
        .into(),
    );
    disabled.name = "/etc/vulkan/icd.d/x.json".into();
    let (_, text) = disabled.message().unwrap_or_default();
    assert!(String::from_utf8_lossy(&text).starts_with("Driver \"x.json\" ignored"));
}

/// The scans of one call share the last file system that was found to be local, so that none of them examines it again.
#[cfg(target_os = "linux")]
#[test]
fn a_file_system_is_examined_once_for_the_scans_of_a_call() {
    let lines = Lines::default();
    let mut journal = Journal::of_call(&lines);
    let root = os::Folder::open(b"/usr").unwrap();
    let mut scan = || {
        let mut known = 0;
        let recorded = journal.record(|_, journal| {
            let paths = journal.paths().unwrap();
            known = paths.local();
            paths.folder(b"/usr", &root);
            Ok(())
        });
        recorded.unwrap();
        known
    };
    assert_eq!(scan(), 0);
    let device = root.stamp().unwrap().device();
    let local = if root.is_local() { device } else { 0 };
    assert_eq!(scan(), local);
}
