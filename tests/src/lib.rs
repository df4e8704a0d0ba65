//! The harness of the behaviour tests. A scene has drivers, manifests and variables. A child process runs in the scene, and loads the
//! library under test like an application.
//!
//! A test is an ordinary test function that calls [`case()`]:
//!
//! ```ignore
//! /// DRV-143
//! #[test]
//! fn drv_143_devices_come_in_reverse_scan_order() {
//!     case(|scene| {
//!         scene.driver("a").device("one");
//!         scene.driver("b").device("two");
//!         let outcome = scene.run(|vk| {
//!             let instance = vk.instance();
//!             assert_eq!(instance.device_names(), ["two", "one"]);
//!         });
//!         outcome.ok();
//!     });
//! }
//! ```
//!
//! [`case()`] runs the function twice. In the test process, the function builds the scene on disk and starts a child. The child runs the
//! same function, builds nothing, and executes the closure of [`Scene::run`]. `tests/README.md` describes the harness.

mod case;
#[cfg(target_os = "linux")]
mod catalogue;
mod driver;
mod elf;
mod exports;
mod known;
mod left_out;
mod library;
pub mod linker_words;
mod outcome;
mod pe;
mod peer;
mod process;
mod scene;
mod skipped;
mod system;
mod target;
pub mod vk;

pub use ash;
pub use case::case;
pub use driver::{Device, Driver};
pub use exports::hide;
pub use left_out::leave_out;
pub use library::{built, is_peer, log_column, under_test};
pub use outcome::Outcome;
pub use process::processor_time;
pub use scene::{Scene, Scratch, settle};
pub use steady::{HANG, copy_program, eventually, is_superuser, once_in_some_attempts, retried, skip};
pub use system::{ABORTED, is_loaded, json_path, shown_address, symlink};
pub use vk::Vk;
