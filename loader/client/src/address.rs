//! The address of the service, and the check of the user who runs the service (LSV-37, LSV-47, LSV-48).

use super::failure::Failure;
use discovery::env::{Environment, Variable};
use discovery::journal::reason::Fault;
use discovery::search::build_dirs::{SERVICE_SOCKET, SERVICE_USER};
use discovery::text::{Text, folder_of};
use os::Errno;
use os::memory::OutOfMemory;
use os::service::{Connection, Deadline, is_elevated, is_socket, is_unknown_user, own_user, owner_of_folder};

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
    is_named: bool,
}

impl Address {
    /// Returns the address that this process uses from now on; `None` if the process uses no service. Makes one system call if no variable
    /// names a service.
    ///
    /// # Errors
    /// Memory ran out.
    pub(crate) fn find(environment: &Environment<'_>) -> Result<Option<Self>, OutOfMemory> {
        let named = environment.get(Variable::ServiceSocket);
        let path = match &named {
            Some(named) => named,
            None if is_socket(SOCKET.as_bytes()) => SOCKET.as_bytes(),
            None => b"",
        };
        let address = Self {
            path: Text::try_new(path)?,
            is_named: named.is_some(),
        };
        Ok((!address.path.is_empty()).then_some(address))
    }

    /// Copies the address.
    ///
    /// # Errors
    /// Memory ran out.
    pub(crate) fn try_copy(&self) -> Result<Self, OutOfMemory> {
        Ok(Self {
            path: Text::try_new(&self.path)?,
            is_named: self.is_named,
        })
    }

    /// Connects to the service, if the loader trusts the user who runs it.
    ///
    /// # Errors
    ///
    /// The reason why there is no connection; [`Failure::Silent`] if the service does not accept a connection within the time limit.
    pub(crate) fn connect(&self) -> Result<Connection, Failure> {
        let owner = folder_of(&self.path).and_then(owner_of_folder);
        let is_elevated = is_elevated();
        if is_elevated && owner != Some(0) {
            return Err(Fault::Folder.into());
        }
        let connection = Connection::to(&self.path, Deadline::after(wire::CONNECT_LIMIT)).map_err(not_reached)?;
        let user = connection.peer().map_err(not_reached)?;
        if user == 0 || TRUSTED == Some(user) || !is_elevated && self.vouches_for(user, owner) {
            Ok(connection)
        } else {
            Err(Fault::NotTrusted(user).into())
        }
    }

    /// Returns `true` if the folder of the socket shows that this user runs the service. Only the owner of a folder can change the entries
    /// of the folder.
    fn vouches_for(&self, user: u32, owner: Option<u32>) -> bool {
        match owner {
            // The user who set the variable chose the folder, and therefore trusts the folder's owner.
            Some(owner) if owner == user && self.is_named => true,
            // Most sandboxes do not know the superuser's number, so the service's user is unknown. The folder then belongs to the same
            // unknown user, or to the user of this process: a sandbox that receives only the socket creates a folder for the socket. The
            // creator of the sandbox decides the content of both folders.
            Some(owner) => is_unknown_user(user) && (owner == user || owner == own_user()),
            None => false,
        }
    }
}

fn not_reached(error: Errno) -> Failure {
    if error.is_lack_of_time() {
        Failure::Silent
    } else {
        Fault::NotReached(error).into()
    }
}
