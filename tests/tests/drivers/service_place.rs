//! Tests of the default paths of a service, and of the paths that an elevated program trusts (LSV-33, LSV-37, LSV-48).

use std::fs;
use std::os::unix::fs::{PermissionsExt, chown};

use loader_tests::{Vk, case};

use crate::service::{names, package, scene_with};
use crate::service_server::Server;

/// Moves this thread to a new mount namespace, and starts a service at the usual path. `user` runs the service, or the superuser if `user`
/// is `None`.
fn at_the_usual_place(vk: &Vk, user: Option<u32>) -> Server {
    use std::ptr::null;
    // SAFETY: the texts are terminated, and the mount is visible only to this thread.
    unsafe {
        assert_eq!(
            libc::unshare(libc::CLONE_NEWNS),
            0,
            "the superuser can have a file system of its own"
        );
        let private = libc::MS_REC | libc::MS_PRIVATE;
        assert_eq!(libc::mount(null(), c"/".as_ptr(), null(), private, null()), 0);
        let run = c"/run".as_ptr();
        assert_eq!(libc::mount(c"none".as_ptr(), run, c"tmpfs".as_ptr(), 0, null()), 0);
    }
    fs::create_dir("/run/vulkan-loader").expect("the folder is empty");
    fs::set_permissions("/run/vulkan-loader", fs::Permissions::from_mode(0o755)).expect("the superuser may");
    let (path, packages) = (wire::SOCKET.as_ref(), [package(vk, 0, "a")]);
    match user {
        Some(user) => Server::of_user(path, &packages, user),
        None => Server::honest(path, &packages),
    }
}

/// LSV-37, LSV-33: the library searches for the usual socket once, at the first scan. If it finds the socket, each further scan connects,
/// even if the socket was missing in the meantime.
#[test]
fn lsv_37_the_usual_place() {
    case(|scene| {
        scene_with(scene, &["a"]);
        scene.unset("VK_LOADER_SERVICE_SOCKET");
        let outcome = scene.run(|vk| {
            let server = at_the_usual_place(vk, None);
            assert_eq!(names(vk), ["here", "a"]);
            assert_eq!(server.connections(), 1);
            drop(server);
            assert_eq!(names(vk), ["here"]);
            let _server = Server::honest(wire::SOCKET.as_ref(), &[package(vk, 0, "a")]);
            assert_eq!(names(vk), ["here", "a"]);
        });
        outcome.ok();
        let outcome = scene.run(|vk| {
            assert_eq!(names(vk), ["here"]);
            let server = at_the_usual_place(vk, None);
            assert_eq!(names(vk), ["here"]);
            assert_eq!(server.connections(), 0);
        });
        outcome.ok();
    });
}

/// LSV-48: an elevated program ignores `VK_LOADER_SERVICE_SOCKET`, and trusts only the superuser at the usual socket.
#[test]
fn lsv_48_an_elevated_program_asks_only_at_the_usual_place() {
    case(|scene| {
        scene_with(scene, &["a"]);
        scene.elevated();
        let named = |vk: &Vk| {
            // The list also contains the devices of the drivers that are installed on this machine.
            let names = vk.spec().create().map(|instance| instance.device_names());
            names.is_ok_and(|names| names.contains(&"a".into()))
        };
        let outcome = scene.run(|vk| {
            let server = Server::honest(&vk.path("s"), &[package(vk, 0, "a")]);
            assert!(!named(vk));
            assert_eq!(server.connections(), 0);
        });
        outcome.ok().not_logged("driver service");
        let outcome = scene.run(|vk| {
            let _server = at_the_usual_place(vk, None);
            assert!(named(vk));
        });
        outcome.ok();
        // A service is not trusted if its user is neither the superuser nor the user in `VKL_SERVICE_USER` at build time, even if the
        // folder belongs to the same user.
        let outcome = scene.run(|vk| {
            let _server = at_the_usual_place(vk, Some(1000));
            chown("/run/vulkan-loader", Some(1000), None).expect("the superuser may");
            assert!(!named(vk));
        });
        outcome
            .ok()
            .logged_with("ERROR | DRIVER", "is run by user 1000, who is not trusted");
    });
}
