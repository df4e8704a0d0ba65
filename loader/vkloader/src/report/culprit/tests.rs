use super::*;
use crate::report::Report;

#[test]
fn a_library_of_a_driver_is_not_blamed_on_the_program_at_exit() {
    let (brought, common, program) = (Owner::Brought(vec![4]), Owner::Common, Owner::Program);
    for (owners, expected) in [
        (
            vec![brought.clone(), common.clone(), program.clone()],
            Some(Owner::Part(4)),
        ),
        (
            vec![common.clone(), brought.clone(), common.clone(), program.clone()],
            Some(Owner::Part(4)),
        ),
        (vec![brought.clone(), program.clone()], None),
        (vec![brought, Owner::Part(2), program.clone()], None),
        (vec![Owner::Brought(vec![1, 2]), common.clone(), program.clone()], None),
        (vec![common, program], None),
    ] {
        assert_eq!(at_exit(&owners), expected, "{owners:?}");
    }
}

#[test]
fn a_trap_is_no_instruction_that_the_processor_lacks() {
    for (signal, instruction, culprit, expected) in [
        (libc::SIGILL, Instruction::Trap, Who::Program, "ended itself"),
        (libc::SIGTRAP, Instruction::Trap, Who::Program, "ended itself"),
        (
            libc::SIGILL,
            Instruction::Trap,
            Who::Driver,
            "Update, rebuild or remove",
        ),
        (libc::SIGILL, Instruction::Other, Who::Program, "this processor lacks"),
        (libc::SIGILL, Instruction::Unknown, Who::Program, ""),
        (libc::SIGSEGV, Instruction::Trap, Who::Program, ""),
    ] {
        let crashed = Crashed {
            signal,
            instruction,
            culprit,
            ..Crashed::default()
        };
        let advice = crashed.advice().unwrap_or_default();
        assert!(
            advice.contains(expected) && advice.is_empty() == expected.is_empty(),
            "{advice}"
        );
    }
}

/// A user cannot examine the probe, so that the report names the call of a driver in which the probe ended.
#[test]
fn the_probe_is_not_a_program_to_examine() {
    let (own, game) = ("/usr/bin/vkloader", "/usr/bin/game");
    for (executable, library, culprit) in [
        (own, own, Who::Unknown),
        (own, "/lib/libhook.so", Who::Program),
        (game, game, Who::Program),
    ] {
        let mut crashed = Crashed {
            culprit: Who::Program,
            name: executable.into(),
            executable: Some(executable.into()),
            library: Some(library.into()),
            ..Crashed::default()
        };
        let own = Path::new(own);
        crashed.forget_probe(Some(own));
        assert_eq!(crashed.culprit, culprit);
        assert_eq!(crashed.name.is_empty(), culprit == Who::Unknown);
    }
}

#[test]
fn a_layer_that_crashes_is_named_in_place_of_the_devices() {
    let mut report = Report {
        devices: vec![crate::report::of_other(&crate::probe::Device::default(), "/lib/l.so")],
        ..Report::default()
    };
    assert!(report.usable().ends_with("none can be created."));
    report.crash = Some(Crashed {
        culprit: Who::Layer,
        name: "VK_LAYER_odd".into(),
        ..Crashed::default()
    });
    assert_eq!(report.usable(), "No device can be used with the layer VK_LAYER_odd.");
}
