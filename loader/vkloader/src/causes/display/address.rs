//! Values of `DISPLAY`, and X servers that listen at ports of this machine.

use super::{Problem, session, to_use, xserver};
use crate::variables::Variables;
use std::io::{Error, ErrorKind};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpStream};
use std::time::Duration;

/// The X server that a value of `DISPLAY` names.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Server<'a> {
    /// A server that listens at a socket of this machine. The field is the number of the display.
    Socket(&'a str),
    /// A server that listens at a TCP port of this machine, such as the end of a connection of `ssh -X`. The field is the number of the
    /// display.
    Port(u16),
    /// A server of another machine, or an invalid value.
    Elsewhere,
}

/// Names of this machine, at which programs reach X servers over TCP.
const LOOPBACK: [&str; 4] = ["localhost", "localhost.localdomain", "::1", "[::1]"];
/// TCP port of the display 0.
const FIRST_PORT: u16 = 6000;
/// Number of the first display that ssh creates.
const FIRST_OF_SSH: u16 = 10;
/// Remedy for the display of a connection of ssh that ended.
const AGAIN: &str = "connect with ssh -X again, and start the program there: the display of such a connection ends with it, and terminals in tmux or \
    screen keep the old value";
/// Time limit for a connection to a port of this machine.
const LIMIT: Duration = Duration::from_millis(500);

/// Returns the server in a value of `DISPLAY`: `[PROTOCOL/][HOST]:NUMBER[.SCREEN]`.
pub(super) fn server(display: &str) -> Server<'_> {
    let Some((host, rest)) = display.rsplit_once(':') else {
        return Server::Elsewhere;
    };
    let number = rest.split('.').next().unwrap_or_default();
    let host = host.strip_prefix("tcp/").unwrap_or(host);
    if matches!(host, "" | "unix" | "unix/") {
        return Server::Socket(number);
    }
    let is_loopback = LOOPBACK.contains(&host) || host.parse::<Ipv4Addr>().is_ok_and(|host| host.is_loopback());
    match number.parse() {
        Ok(number) if is_loopback => Server::Port(number),
        _ => Server::Elsewhere,
    }
}

/// Returns the problem with the X server at a TCP port of this machine, if there is one. `display` is the value of `DISPLAY`, and `number` is the
/// number of the display.
pub(super) fn problem(display: &str, number: u16, variables: &Variables) -> Option<Problem> {
    let port = FIRST_PORT.checked_add(number)?;
    let text = number.to_string();
    let finding = match connect(port) {
        Ok(mut server) => {
            let cookie = xserver::cookie(&text, variables);
            let is_refused = xserver::accepts(&mut server, cookie.as_deref()) == Some(false);
            is_refused.then(|| format!("the X server at {display} refuses programs without authorization"))?
        }
        // A filter for the network may discard packets, so the server may be running.
        Err(error) if error.kind() == ErrorKind::TimedOut => return None,
        Err(error) if error.kind() == ErrorKind::ConnectionRefused => {
            format!("there is no X server at {display}: nothing listens at port {port} of this machine")
        }
        Err(error) => format!("there is no X server at {display}: port {port} of this machine: {error}"),
    };
    let again = Some(AGAIN).filter(|_| number >= FIRST_OF_SSH);
    let of_session = session::x11(variables).map(|variables| to_use(&variables));
    let advices: Vec<String> = of_session.into_iter().chain(again.map(String::from)).collect();
    Some(Problem {
        finding,
        advice: (!advices.is_empty()).then(|| crate::untraced::sentence(&advices.join("; or "))),
    })
}

/// Connects to a TCP port of this machine, as the libraries of X11 do.
fn connect(port: u16) -> Result<TcpStream, Error> {
    let of = |host: IpAddr| TcpStream::connect_timeout(&SocketAddr::new(host, port), LIMIT);
    of(Ipv4Addr::LOCALHOST.into()).or_else(|error| of(Ipv6Addr::LOCALHOST.into()).map_err(|_| error))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn displays_name_a_socket_a_port_or_another_machine() {
        for (display, expected) in [
            (":0", Server::Socket("0")),
            (":12.1", Server::Socket("12")),
            ("unix:3", Server::Socket("3")),
            ("localhost:10.0", Server::Port(10)),
            ("tcp/localhost:1", Server::Port(1)),
            ("127.0.0.1:11.0", Server::Port(11)),
            ("::1:10", Server::Port(10)),
            ("localhost:99999", Server::Elsewhere),
            ("far.example:0", Server::Elsewhere),
            ("10.0.0.2:0.0", Server::Elsewhere),
            ("localhost", Server::Elsewhere),
            ("", Server::Elsewhere),
        ] {
            assert_eq!(server(display), expected, "{display}");
        }
    }
}
