//! Tests of `--overlay` and `--overlay-policy` on the pinned registry, for an extension that is not public yet.

use crate::common::{Scratch, repository, xml_folder};
use std::fs;
use std::path::Path;
use std::process::{Command, Output};

/// Two commands. One of them is special, because it has a surface as a parameter.
const PRIVATE: &str = r#"<registry>
  <commands>
    <command>
      <proto><type>VkResult</type> <name>vkSwingSwordACME</name></proto>
      <param><type>VkDevice</type> <name>device</name></param>
      <param><type>VkSurfaceKHR</type> <name>surface</name></param>
    </command>
    <command>
      <proto><type>void</type> <name>vkCmdThrowAxeACME</name></proto>
      <param><type>VkCommandBuffer</type> <name>commandBuffer</name></param>
      <param><type>float</type> <name>distance</name></param>
    </command>
  </commands>
  <extensions>
    <extension name="VK_ACME_weapons" number="9000" type="device" supported="vulkan">
      <require>
        <enum value="1" name="VK_ACME_WEAPONS_SPEC_VERSION"/>
        <enum value="&quot;VK_ACME_weapons&quot;" name="VK_ACME_WEAPONS_EXTENSION_NAME"/>
        <command name="vkSwingSwordACME"/>
        <command name="vkCmdThrowAxeACME"/>
      </require>
    </extension>
  </extensions>
</registry>
"#;

const ROWS: &str = r#"
[[treatment]]
commands = ["vkSwingSwordACME"]
reviewed = ["wrapped_handle", "surface -> VkSurfaceKHR"]
reason = "the driver of this loader unwraps surfaces itself"
"#;

/// Returns a folder with the overlay and its rows. If the pinned XML was not fetched, prints a message and returns `None`.
fn prepared() -> Option<Scratch> {
    let vk = xml_folder().join("vk.xml");
    if !vk.is_file() {
        crate::common::skip(format_args!("no {}; make registry fetches it", vk.display()));
        return None;
    }
    let scratch = Scratch::new();
    fs::write(scratch.path().join("private.xml"), PRIVATE).expect("the overlay");
    fs::write(scratch.path().join("private.toml"), ROWS).expect("the rows");
    Some(scratch)
}

/// Runs a subcommand of vkgen on files in `scratch`. The working folder is the root of the repository.
fn run(scratch: &Path, verb: &[&str], overlay: bool, rows: bool) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_vkgen"));
    command.args(verb).arg("--input").arg(xml_folder());
    if overlay {
        command.arg("--overlay").arg(scratch.join("private.xml"));
    }
    if rows {
        command.arg("--overlay-policy").arg(scratch.join("private.toml"));
    }
    if matches!(verb[0], "emit" | "check") {
        command.arg("--generated").arg(scratch.join("generated"));
    }
    command.current_dir(repository()).output().expect("the program runs")
}

fn code(output: &Output) -> i32 {
    output.status.code().expect("an exit code")
}

fn errors(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn an_overlay_is_emitted_like_everything_else() {
    let Some(scratch) = prepared() else { return };
    let output = run(scratch.path(), &["emit"], true, true);
    assert_eq!(code(&output), 0, "{}", errors(&output));
    let text = |path: &str| fs::read_to_string(scratch.path().join("generated").join(path)).expect(path);
    assert!(text("trampoline/command_buffer.rs").contains(" fn vkCmdThrowAxeACME("));
    assert!(text("trampoline/device.rs").contains(" fn vkSwingSwordACME("));
    assert!(text("dispatch/device.rs").contains("    vkCmdThrowAxeACME: "));
    assert!(text("lookup.rs").contains("    vkSwingSwordACME: Device"));
    assert!(
        !text("exports/linux.txt").contains("ACME"),
        "an extension exports nothing"
    );
    let manifest = text("manifest.txt");
    assert!(manifest.contains(" overlay/private.xml\n") && manifest.contains(" overlay/private.toml\n"));
    assert_eq!(code(&run(scratch.path(), &["check"], true, true)), 0);
    assert_eq!(
        code(&run(scratch.path(), &["check"], false, false)),
        1,
        "without the overlay it differs"
    );
}

#[test]
fn an_overlay_changes_no_line_of_what_is_public() {
    let Some(scratch) = prepared() else { return };
    assert_eq!(code(&run(scratch.path(), &["emit"], true, true)), 0);
    for path in ["pfn.rs", "dispatch/device.rs", "trampoline/command_buffer.rs"] {
        let public = fs::read_to_string(repository().join("generated").join(path)).expect(path);
        let both = fs::read_to_string(scratch.path().join("generated").join(path)).expect(path);
        let both: std::collections::BTreeSet<&str> = both.lines().collect();
        let gone: Vec<&str> = public.lines().filter(|line| !both.contains(line)).collect();
        assert_eq!(gone, [""; 0], "{path}");
    }
}

#[test]
fn a_special_command_of_an_overlay_needs_a_row_too() {
    let Some(scratch) = prepared() else { return };
    let output = run(scratch.path(), &["emit"], true, false);
    assert_eq!(code(&output), 2);
    assert!(
        errors(&output).contains("error[unclassified-command]: vkSwingSwordACME"),
        "{}",
        errors(&output)
    );
    assert!(!scratch.path().join("generated").exists(), "nothing is written");
    // Rows for unknown commands are stale. The message names the place in the file with these rows.
    let output = run(scratch.path(), &["emit"], false, true);
    assert_eq!(code(&output), 2);
    assert!(
        errors(&output).contains("private.toml:3:13: error[stale-policy]: vkSwingSwordACME"),
        "{}",
        errors(&output)
    );
}

#[test]
fn a_conflict_names_both_places() {
    let Some(scratch) = prepared() else { return };
    let text = PRIVATE.replace("vkCmdThrowAxeACME", "vkCmdDraw");
    fs::write(scratch.path().join("private.xml"), text).expect("the overlay");
    let output = run(scratch.path(), &["emit"], true, true);
    let text = errors(&output);
    assert_eq!(code(&output), 2);
    assert!(
        text.contains("private.xml:8:") && text.contains("error[duplicate-definition]: `vkCmdDraw`"),
        "{text}"
    );
    assert!(text.contains("vk.xml:"), "{text}");
}

#[test]
fn an_overlay_is_explained_with_its_own_lines() {
    let Some(scratch) = prepared() else { return };
    let output = run(scratch.path(), &["explain", "vkSwingSwordACME"], true, true);
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(code(&output), 0, "{}", errors(&output));
    assert!(text.contains("private.xml:3: registry/commands/command"), "{text}");
    assert!(text.contains("private.toml:3: commands"), "{text}");
}
