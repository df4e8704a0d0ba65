//! The address of the service, and the check of the user who runs the service (LSV-37, LSV-47, LSV-48).

use crate::{copied, publication};
use discovery::env::{Environment, Variable};
use discovery::journal::reason::Fault;
use discovery::search::build_dirs::{SERVICE_SOCKET, SERVICE_USER};
use discovery::text::{Text, folder_of};
use os::memory::{OutOfMemory, shortage};
use os::service::{Connection, Patience, is_socket, is_superuser, own_user, owner_of_folder};

/// Default path of the service's socket.
const SOCKET: &str = match SERVICE_SOCKET {
    Some(socket) => socket,
    None => wire::SOCKET,
};

/// User whom this build trusts in addition to the superuser.
const TRUSTED: Option<u32> = match SERVICE_USER {
    Some(digits) => Some(number(digits)),
    None => None,
};

const fn number(digits: &str) -> u32 {
    match u32::from_str_radix(digits, 10) {
        Ok(number) => number,
        Err(_) => panic!("VKL_SERVICE_USER must be the number of a user"),
    }
}

/// The socket at which the service listens.
#[derive(Debug)]
pub(crate) struct Address {
    /// Path of the socket, which is also the name of the service in messages.
    pub path: Text,
    /// `true` if the environment named the address.
    pub is_named: bool,
}

impl Address {
    /// Returns the address of the service; `None` if the process uses no service. If no variable names a service, makes one system call,
    /// unless an earlier scan found the service.
    ///
    /// # Errors
    /// Memory ran out.
    pub(crate) fn find(environment: &Environment<'_>, was_found: bool) -> Result<Option<Self>, OutOfMemory> {
        let (path, is_named) = match environment.get(Variable::ServiceSocket) {
            Some(named) => (Text::from(named), true),
            None if was_found || is_socket(SOCKET.as_bytes()) => (copied(SOCKET.as_bytes()).into(), false),
            None => (Text::default(), false),
        };
        // If memory runs out while the path is copied, the result looks like an empty variable.
        shortage::check()?;
        Ok((!path.is_empty()).then_some(Self { path, is_named }))
    }

    /// Connects to the service, if the loader trusts the user who runs it.
    ///
    /// # Errors
    /// The reason why there is no connection; [`Fault::TimedOut`] if the patience is over before the service accepts a connection.
    pub(crate) fn connect(&self, patience: &mut Patience) -> Result<Connection, Fault> {
        let connected = Connection::to(&self.path, patience);
        match connected.and_then(|connection| Ok((connection.peer()?, connection))) {
            Ok((user, connection)) if user == 0 || TRUSTED == Some(user) || self.vouches_for(user) => Ok(connection),
            Ok((user, _)) => Err(Fault::NotTrusted(user)),
            Err(error) if error.is_lack_of_time() => {
                publication::rest();
                Err(Fault::TimedOut)
            }
            Err(error) => Err(Fault::NotReached(error)),
        }
    }

    /// Returns `true` if the folder of the socket shows that this user runs the service. Only the owner of a folder can change the entries
    /// of the folder.
    fn vouches_for(&self, user: u32) -> bool {
        let Some(owner) = folder_of(&self.path).and_then(owner_of_folder) else {
            return false;
        };
        if self.is_named && owner == user {
            // The user who set `VK_LOADER_SERVICE_SOCKET` chose the folder, and therefore trusts the folder's owner.
            return true;
        }
        // Most sandboxes do not map the superuser, and show the overflow user ID in its place. The folder then belongs to the overflow user
        // ID too. A sandbox that receives only the socket creates a folder for the socket, which belongs to the sandbox's own root or to the
        // user of this process. The creator of the sandbox decides the content of all these folders.
        is_superuser(user) && (owner == user || owner == 0 || owner == own_user())
    }
}
