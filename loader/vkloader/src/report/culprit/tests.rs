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
        (libc::SIGILL, Instruction::Trap, Who::Driver, ""),
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

#[test]
fn an_argument_counts_if_it_was_the_programs() {
    let (part, program, brought) = (Owner::Part(0), Owner::Program, Owner::Brought(vec![0]));
    for (owners, values, expected) in [
        (vec![part.clone(), program.clone()], &[16][..], Some(16)),
        (vec![part.clone(), Owner::Loader, program.clone()], &[16], Some(16)),
        (vec![part.clone(), brought, program.clone()], &[16], Some(16)),
        // A layer passed it on.
        (vec![part.clone(), Owner::Part(1), program.clone()], &[16, 12], Some(12)),
        (vec![part.clone(), Owner::Part(1), program.clone()], &[16], None),
        (vec![part.clone(), part.clone(), program.clone()], &[16], None),
        (vec![part.clone(), program], &[0], None),
        (vec![part, Owner::Common], &[16], None),
    ] {
        let argument = |value: &u64| {
            Some(Argument {
                place: 1,
                value: *value,
            })
        };
        let crash = Crash {
            arguments: values.iter().map(argument).collect(),
            ..Crash::default()
        };
        let found = passed(&crash, &owners, 0, || None).map(|argument| argument.value);
        assert_eq!(found, expected, "{owners:?} {values:?}");
    }
}

#[test]
fn a_null_counts_if_the_argument_is_never_null() {
    let (part, program) = (Owner::Part(0), Owner::Program);
    let direct = vec![part.clone(), program.clone()];
    let through = vec![part, Owner::Loader, program];
    let properties = Some("vkGetPhysicalDeviceProperties");
    for (owners, places, name, expected) in [
        (&direct, &[1][..], properties, Some(1)),
        (&direct, &[2], Some("vkCreateBuffer"), None),
        (&direct, &[0], Some("vkEnumerateInstanceExtensionProperties"), None),
        (&direct, &[0], None, Some(0)),
        (&direct, &[1], None, None),
        (&through, &[1, 1], properties, Some(1)),
        // The loader made the call.
        (&through, &[0], None, None),
        (&through, &[0], Some("vkCreateInstance"), None),
    ] {
        let argument = |place: &usize| {
            Some(Argument {
                place: *place,
                value: 0,
            })
        };
        let crash = Crash {
            arguments: places.iter().map(argument).collect(),
            ..Crash::default()
        };
        let found = passed(&crash, owners, 0, || name.map(String::from)).map(|argument| argument.place);
        assert_eq!(found, expected, "{owners:?} {places:?} {name:?}");
    }
}
