//! Broken set-ups that users have. Each test checks the first cause, the file and the remedy that `vkloader explain` reports. Then the test
//! follows the remedy, which must make a device usable or remove the finding.
//!
//! A set-up is a row in one of the tables. Set-ups that need a program, a terminal or a long time have separate tests, which [`ELSEWHERE`]
//! lists.

#[path = "../machine/mod.rs"]
mod machine;

mod asked;
mod companions;
mod drivers;
mod hardware;
mod launchers;
mod layers;
mod libraries;
mod manifests;
mod overridden;
mod posted;
mod releases;
mod reported;
mod requested;
mod sandboxes;
mod servers;
mod surroundings;
mod tried;
mod upgraded;
mod users;
mod variables;

use machine::{Explained, Machine};
use serde_json::Value;

/// A change to an imitated machine.
type Step = fn(&mut Machine);

/// The result that following a remedy must have.
#[derive(Clone, Copy)]
enum After {
    /// Programs have a usable device.
    Device,
    /// The finding disappears. Used for set-ups that already had a usable device, or that cannot have one.
    Gone,
}

/// A broken set-up, and the expected report.
struct Row {
    name: &'static str,
    /// The change that creates the broken set-up.
    setup: Step,
    /// Code of the first cause.
    code: &'static str,
    /// Text that the cause's name, file or facts must contain.
    about: &'static str,
    /// Text that the remedy must contain.
    remedy: &'static str,
    /// The change by which a user carries out the remedy.
    follow: Step,
    after: After,
}

impl Row {
    const fn new(name: &'static str, setup: Step, code: &'static str) -> Self {
        Self {
            name,
            setup,
            code,
            about: "",
            remedy: "",
            follow: |_| {},
            after: After::Device,
        }
    }

    const fn about(mut self, about: &'static str) -> Self {
        self.about = about;
        self
    }

    /// Sets the text that the remedy must contain, and the change by which a user carries out the remedy.
    const fn remedy(mut self, remedy: &'static str, follow: Step) -> Self {
        self.remedy = remedy;
        self.follow = follow;
        self
    }

    const fn gone(mut self) -> Self {
        self.after = After::Gone;
        self
    }

    /// Tests a row. Returns the difference between the report and the expected report, if there is one.
    fn try_out(&self) -> Result<(), String> {
        let mut machine = Machine::new();
        (self.setup)(&mut machine);
        let explained = machine.explain();
        let found = self.first(&explained);
        let shown = format!("{:#}", explained.report["dropped"]);
        let text = |key: &str| found[key].to_string();
        let place = [text("name"), text("file"), text("findings"), text("reason")].concat();
        let advice = found["advice"].as_str().unwrap_or_default();
        if found["code"] != self.code || !place.contains(self.about) || !advice.contains(self.remedy) {
            let wanted = (self.code, self.about, self.remedy);
            return Err(format!("expected {wanted:?}, and got {shown}"));
        }
        (self.follow)(&mut machine);
        let explained = machine.explain();
        let right = match self.after {
            After::Device => explained.code == 0 && !explained.devices().is_empty(),
            After::Gone => !explained.codes().contains(&self.code),
        };
        if right {
            Ok(())
        } else {
            Err(format!(
                "the remedy \"{advice}\" does not help: {:#}",
                explained.report["dropped"]
            ))
        }
    }

    /// Returns the first finding of a report. If devices are usable, returns the first finding with the expected code.
    fn first<'a>(&self, explained: &'a Explained) -> &'a Value {
        let dropped = explained.report["dropped"].as_array().map_or(&[][..], Vec::as_slice);
        let is_usable = explained.verdict() != "nothing";
        let mut fitting = dropped.iter().filter(|one| !is_usable || one["code"] == self.code);
        fitting.next().unwrap_or(&Value::Null)
    }
}

/// Tests all rows of a table. Reports all rows that fail.
fn try_all(rows: &[Row]) {
    let failures: Vec<String> = rows
        .iter()
        .filter_map(|row| row.try_out().err().map(|why| format!("{}: {why}", row.name)))
        .collect();
    assert!(
        failures.is_empty(),
        "{} of {}:\n{}",
        failures.len(),
        rows.len(),
        failures.join("\n")
    );
}

/// Set-ups that have a separate test: the file, and the name of the test.
const ELSEWHERE: [(&str, &str); 88] = [
    (
        "other/ignored.rs",
        "a_missing_manifest_is_named_although_no_library_can_be_asked",
    ),
    (
        "other/ignored.rs",
        "words_that_another_loader_ignores_are_named_with_a_choice_that_it_knows",
    ),
    (
        "failed/untraced.rs",
        "a_program_without_its_dynamic_linker_comes_with_the_packages",
    ),
    (
        "setups/sandboxes.rs",
        "a_driver_of_the_host_that_a_container_lacks_is_named_with_the_volume",
    ),
    (
        "setups/sandboxes.rs",
        "a_manifest_that_only_the_sandbox_lacks_comes_before_its_variable",
    ),
    ("setups/sandboxes.rs", "a_sandbox_that_fails_is_named_with_its_message"),
    (
        "setups/sandboxes.rs",
        "a_socket_of_a_display_that_only_the_sandbox_lacks_is_named",
    ),
    (
        "setups/sandboxes.rs",
        "a_sandbox_without_the_drivers_library_is_named_with_the_option",
    ),
    (
        "setups/sandboxes.rs",
        "a_file_in_place_of_a_library_that_a_driver_needs_is_named",
    ),
    (
        "setups/sandboxes.rs",
        "a_folder_that_a_sandbox_does_not_have_is_named_from_inside",
    ),
    (
        "setups/sandboxes.rs",
        "device_nodes_and_lists_that_only_the_sandbox_lacks_are_named_with_the_option",
    ),
    ("setups/sandboxes.rs", "a_closed_folder_of_the_linkers_cache_is_named"),
    (
        "setups/servers.rs",
        "a_folder_that_systemd_hides_from_a_service_is_named",
    ),
    (
        "failed/untraced.rs",
        "a_program_that_fails_before_it_opens_a_loader_comes_with_its_last_lines",
    ),
    (
        "failed/untraced.rs",
        "a_loader_that_the_dynamic_linker_does_not_find_is_named",
    ),
    (
        "failed/untraced.rs",
        "a_program_that_has_no_descriptor_left_for_its_loader_is_said_as_that",
    ),
    (
        "failed/untraced.rs",
        "a_damaged_loader_that_a_script_leads_to_is_named_with_the_line",
    ),
    (
        "failed/untraced.rs",
        "a_truncated_loader_that_crashes_the_dynamic_linker_is_named",
    ),
    (
        "failed/untraced.rs",
        "a_wrong_name_of_the_loader_comes_with_the_right_one",
    ),
    (
        "failed/others.rs",
        "a_program_that_gets_the_loader_of_the_system_is_told_which_option_gives_a_trace",
    ),
    (
        "failed/others.rs",
        "a_loader_that_comes_before_the_variable_is_named_at_once",
    ),
    (
        "failed/untraced.rs",
        "the_variables_of_a_program_with_a_loader_of_its_own_are_examined",
    ),
    ("failed/untraced.rs", "the_system_call_that_a_filter_refused_is_named"),
    (
        "setups/servers.rs",
        "a_sandbox_without_the_kernels_list_may_have_no_card",
    ),
    (
        "setups/servers.rs",
        "a_folder_of_device_nodes_that_the_user_may_not_search_is_named",
    ),
    (
        "setups/servers.rs",
        "a_device_node_in_a_file_system_without_devices_is_named",
    ),
    (
        "setups/servers.rs",
        "the_variable_that_enables_a_crashing_layer_is_unset",
    ),
    (
        "setups/servers.rs",
        "drivers_without_their_manifests_are_named_with_the_folder",
    ),
    (
        "setups/servers.rs",
        "the_variable_that_leaves_out_other_drivers_comes_before_an_update",
    ),
    (
        "other_failing.rs",
        "a_loader_of_the_program_that_fails_is_named_although_the_program_works_here",
    ),
    (
        "other_failing.rs",
        "a_program_that_finds_no_loader_is_told_although_it_works_here",
    ),
    (
        "setups/requested.rs",
        "an_installed_layer_that_a_program_does_not_get_is_named_with_the_reason",
    ),
    (
        "failed/main.rs",
        "a_program_that_opens_the_missing_link_to_the_loader_is_said_as_that",
    ),
    ("failed/displays.rs", "a_display_of_another_user_is_not_offered"),
    ("failed/displays.rs", "a_remote_desktop_without_dri3_is_named"),
    (
        "failed/displays.rs",
        "a_display_at_a_port_where_nothing_listens_is_named",
    ),
    ("programs.rs", "the_library_that_a_program_opened_instead_is_named"),
    (
        "programs.rs",
        "a_crash_in_a_preloaded_library_is_told_with_the_variable",
    ),
    (
        "other/main.rs",
        "a_library_that_only_has_the_name_of_the_loader_is_told",
    ),
    (
        "setups/posted.rs",
        "an_installed_driver_that_no_manifest_names_is_named_with_the_manifest",
    ),
    (
        "setups/posted.rs",
        "a_sandbox_without_the_kernels_list_of_devices_is_named",
    ),
    (
        "setups/posted.rs",
        "a_second_card_that_is_not_used_is_named_after_all_else",
    ),
    (
        "setups/posted.rs",
        "closed_nodes_come_before_the_driver_that_gives_no_functions",
    ),
    (
        "setups/posted.rs",
        "a_library_that_a_policy_forbids_comes_with_the_policy",
    ),
    (
        "setups/posted.rs",
        "the_users_own_manifests_are_named_if_home_is_that_of_another",
    ),
    (
        "setups/posted.rs",
        "a_layer_that_a_program_asks_for_is_named_with_what_leaves_it_out",
    ),
    ("programs.rs", "a_program_that_goes_on_in_the_background_is_awaited"),
    ("programs.rs", "a_program_that_leaves_a_daemon_ends_when_it_ends"),
    ("programs.rs", "a_mask_that_takes_all_permissions_away_prevents_nothing"),
    ("programs.rs", "a_system_that_takes_no_temporary_file_prevents_nothing"),
    ("programs.rs", "programs_without_a_trace_come_with_the_reason"),
    ("programs.rs", "a_loader_in_a_folder_of_the_program_is_named"),
    ("programs.rs", "a_32_bit_program_comes_with_what_it_lacks"),
    ("programs.rs", "a_program_of_another_user_is_explained_to_root"),
    (
        "programs.rs",
        "a_library_that_a_program_brings_and_that_is_too_old_is_named",
    ),
    (
        "setups/surroundings.rs",
        "a_driver_of_the_host_of_a_container_is_not_repaired_but_replaced",
    ),
    (
        "setups/surroundings.rs",
        "a_needed_library_in_a_file_system_that_forbids_programs_is_named",
    ),
    ("setups/layers.rs", "a_layer_that_exits_or_hangs_is_named_among_several"),
    (
        "other_failing.rs",
        "a_manifest_that_crashes_the_loader_of_programs_is_named",
    ),
    (
        "other_failing.rs",
        "a_manifest_that_only_the_loader_of_programs_refuses_is_named",
    ),
    (
        "other_failing.rs",
        "a_layer_that_crashes_under_both_loaders_is_named_and_no_loader",
    ),
    (
        "setups/surroundings.rs",
        "a_folder_for_temporary_files_that_is_full_prevents_nothing",
    ),
    (
        "setups/surroundings.rs",
        "a_folder_of_manifests_that_this_user_may_not_read_is_named",
    ),
    (
        "setups/surroundings.rs",
        "a_closed_manifest_comes_before_files_in_the_closed_home_of_another_user",
    ),
    (
        "setups/companions.rs",
        "a_library_that_a_driver_did_not_find_comes_before_its_card",
    ),
    ("explain.rs", "a_file_that_this_user_may_not_read"),
    ("explain.rs", "a_dependency_of_a_dependency_is_missing"),
    ("explain.rs", "a_driver_that_hangs"),
    ("explain.rs", "a_driver_that_refuses_and_what_it_looked_for"),
    ("explain.rs", "an_elevated_program_leaves_no_trace"),
    ("explain.rs", "real_drivers_of_a_machine_without_a_graphics_card"),
    ("explain.rs", "a_program_in_a_sandbox"),
    ("reasons.rs", "a_program_without_an_instance_is_said_as_that"),
    ("reasons.rs", "a_layer_or_extension_that_is_missing_is_said_as_that"),
    ("failed/displays.rs", "a_missing_display_is_said_where_a_program_failed"),
    (
        "failed/main.rs",
        "the_failed_call_of_a_program_without_windows_is_the_first_cause",
    ),
    ("reasons.rs", "a_layer_that_is_older_than_the_program_is_named"),
    ("reasons.rs", "a_variable_comes_with_the_process_that_set_it"),
    ("reasons.rs", "a_library_that_lacks_a_version_of_a_symbol_is_named"),
    ("reasons.rs", "a_symbol_that_no_library_has_is_named"),
    ("reasons.rs", "a_folder_that_may_not_be_searched_is_named"),
    ("reasons.rs", "how_a_program_ended_is_said_by_status_and_name"),
    ("received.rs", "mesas_layer_undoes_what_the_loader_chose"),
    ("received.rs", "a_program_whose_layer_drops_a_device"),
    ("received.rs", "software_alone_is_a_verdict_of_its_own"),
    ("other/main.rs", "a_machine_whose_loader_does_not_open_says_so"),
    ("other/main.rs", "a_loader_that_fails_where_this_one_works_is_the_cause"),
    ("other/main.rs", "every_difference_is_named_with_its_reason"),
];

/// The tables of set-ups have at least sixty rows together, and each test in the list `ELSEWHERE` exists.
#[test]
fn there_are_at_least_sixty_set_ups() {
    let tables = [
        asked::ROWS.len(),
        manifests::ROWS.len(),
        overridden::ROWS.len(),
        libraries::ROWS.len(),
        companions::ROWS.len(),
        drivers::ROWS.len(),
        variables::ROWS.len(),
        launchers::ROWS.len(),
        layers::ROWS.len(),
        users::ROWS.len(),
        posted::ROWS.len(),
        releases::ROWS.len(),
        reported::ROWS.len(),
        tried::ROWS.len(),
        upgraded::ROWS.len(),
        hardware::COUNT,
    ];
    let rows: usize = tables.iter().sum();
    assert!(rows >= 60, "{rows} rows");
    for (file, name) in ELSEWHERE {
        let path = format!("{}/tests/{file}", env!("CARGO_MANIFEST_DIR"));
        let text = std::fs::read_to_string(&path).expect("a file of tests");
        assert!(
            text.contains(&format!("#[test]\nfn {name}()")),
            "{file} has no test {name}"
        );
    }
}

/// Installs a working driver with a card.
fn good(machine: &mut Machine) {
    machine.driver("good", "device one");
}
