//! Findings that matter less than a fault of the driver in use: words that match nothing, closed folders of manifests, and filters that hide only a
//! software device.

use super::REPLACING;
use crate::report::{Dropped, Hidden, codes, rank};
use reasons::Code;

/// Codes of findings about filters of devices.
const FILTERS: [Code; 3] = [Code::DeviceIdFilter, Code::DeviceNotVisible, Code::DeviceNotConfigured];

/// Returns `true` for a device that computes on the processor.
pub(super) fn is_software(hidden: &Hidden) -> bool {
    hidden.kind == "cpu"
}

/// Returns `true` for a finding that matters less than a fault of the driver in use. `hidden` has the devices that something hides.
pub(super) fn matters_less(one: &Dropped, hidden: &[Hidden]) -> bool {
    let is_word = one.code == codes::VARIABLE_NO_MATCH.name && !REPLACING.contains(&one.name.as_str());
    let is_folder = one.code == codes::SEARCH_FOLDER_CLOSED.name;
    let is_filter = FILTERS.iter().any(|code| code.name() == one.code);
    let mut devices = hidden.iter().filter(|device| device.name == one.name);
    let hides_software = is_filter && devices.any(is_software);
    (is_word || is_folder || hides_software) && one.rank < rank::ASIDE
}
