//! Where the service is, and who may run it (LSV-37, LSV-47, LSV-48).

use discovery::env::{Environment, Variable};
use discovery::journal::reason::ServiceReason;
use discovery::search::build_dirs::{SERVICE_SOCKET, SERVICE_USER};
use discovery::text::{Text, folder_of};
use os::service::{Connection, is_elevated, is_socket, is_unknown_user, own_user, owner_of_folder};
use os::{Errno, render};

/// Where the service listens if nothing says otherwise.
const SOCKET: &str = match SERVICE_SOCKET {
    Some(socket) => socket,
    None => wire::SOCKET,
};

/// The user of the build who is trusted beside the superuser.
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

/// What begins the name of a descriptor in place of a path.
const DESCRIPTOR: &[u8] = b"fd:";

/// Where the service is.
#[derive(Clone, Debug)]
pub(super) enum Address {
    /// A socket listens at this path.
    Path(Text),
    /// The process was started with a connection under this number, and its parent vouches for the other end.
    Inherited(u32),
}

impl Address {
    /// The address that this process uses from now on; `None` where it asks no service. With nothing in the environment that is one
    /// system call.
    pub(super) fn find(environment: &Environment<'_>) -> Option<Self> {
        match environment.get(Variable::ServiceSocket) {
            None => is_socket(SOCKET.as_bytes()).then(|| Self::Path(SOCKET.into())),
            Some(named) if named.is_empty() => None,
            Some(named) => Some(match named.strip_prefix(DESCRIPTOR) {
                Some(digits) => {
                    let digits = core::str::from_utf8(digits).ok();
                    // Under the largest number nothing is open.
                    Self::Inherited(digits.and_then(|digits| digits.parse().ok()).unwrap_or(u32::MAX))
                }
                None => Self::Path(named.into()),
            }),
        }
    }

    /// What messages call it.
    pub(super) fn name(&self) -> Text {
        match self {
            Self::Path(path) => path.clone(),
            Self::Inherited(number) => render(format_args!("fd:{number}")).into(),
        }
    }

    /// A connection to whoever may be trusted with code.
    pub(super) fn connect(&self) -> Result<Connection, ServiceReason> {
        let not_reached = |error: Errno| match error.is_lack_of_time() {
            true => ServiceReason::TimedOut,
            false => ServiceReason::NotReached(render(format_args!("{error}")).into()),
        };
        let path = match self {
            Self::Inherited(number) => return Connection::inherited(*number).map_err(not_reached),
            Self::Path(path) => path,
        };
        let owner = folder_of(path).and_then(owner_of_folder);
        if is_elevated() && owner != Some(0) {
            return Err(ServiceReason::Folder);
        }
        let connection = Connection::to(path, wire::CONNECT_LIMIT).map_err(not_reached)?;
        let user = connection.peer().map_err(not_reached)?;
        let is_trusted = user == 0
            || TRUSTED == Some(user)
            // Most sandboxes do not know the superuser's number. Who made one chose what lies in folders that nobody there can change, or
            // nobody but the user of this process: a sandbox to which the socket alone was brought has made its folder.
            || !is_elevated() && is_unknown_user(user) && [Some(user), Some(own_user())].contains(&owner);
        match is_trusted {
            true => Ok(connection),
            false => Err(ServiceReason::NotTrusted(user)),
        }
    }
}
