//! One handshake, step by step, over buffers in memory.
//!
//! ```text
//! client   begin    ── ClientHello ──▶
//! server   answer   ◀── ServerHello … signature … Finished (1.3) or ServerHelloDone (1.2) ──
//! both     complete ── the rest, to the end of both; the client's nonce, encrypted ──▶ read by the server
//! ```

use std::{
    io::{Read, Write},
    sync::Arc,
};

use rsalab_engines::{
    EngineError,
    op::{HANDSHAKE_FULL, HANDSHAKE_RESUMED, NONCE_BYTES},
};
use rustls::{
    ClientConfig, ClientConnection, Connection, HandshakeKind, ServerConfig, ServerConnection, pki_types::ServerName,
};

use crate::certificate::HOST;

/// A client that has written its first message.
pub(crate) struct Begun {
    client: ClientConnection,
    hello: Vec<u8>,
}

/// A server that has answered it.
pub(crate) struct Answered {
    client: ClientConnection,
    server: ServerConnection,
    answer: Vec<u8>,
}

impl Begun {
    pub(crate) fn new(config: &Arc<ClientConfig>) -> Result<Self, EngineError> {
        let name = ServerName::try_from(HOST).map_err(|error| EngineError::library("the server's name", error))?;
        let client = ClientConnection::new(Arc::clone(config), name);
        let mut client = client.map_err(|error| EngineError::library("ClientConnection::new", error))?;
        let mut hello = Vec::with_capacity(1024);
        client.write_tls(&mut hello).map_err(wire)?;
        Ok(Begun { client, hello })
    }

    /// The server's part up to where it waits for the client again.
    pub(crate) fn answer(self, config: &Arc<ServerConfig>) -> Result<Answered, EngineError> {
        let server = ServerConnection::new(Arc::clone(config));
        let mut server = server.map_err(|error| EngineError::library("ServerConnection::new", error))?;
        pass_on(&self.hello, |bytes| server.read_tls(bytes))?;
        server.process_new_packets().map_err(refused("the server"))?;
        let mut answer = Vec::with_capacity(4096);
        while server.wants_write() {
            server.write_tls(&mut answer).map_err(wire)?;
        }
        Ok(Answered {
            client: self.client,
            server,
            answer,
        })
    }
}

impl Answered {
    /// The rest, to the end of both; writes what the server got of the client, and how both say that they began.
    pub(crate) fn complete(self, nonce: &[u8], output: &mut [u8]) -> Result<(), EngineError> {
        let Answered {
            mut client,
            mut server,
            answer,
        } = self;
        client.writer().write_all(nonce).map_err(wire)?;
        pass_on(&answer, |bytes| client.read_tls(bytes))?;
        client.process_new_packets().map_err(refused("the client"))?;
        let mut bytes = Vec::with_capacity(1024);
        // To the end, and to the last ticket, which the client keeps.
        while client.wants_write() || server.wants_write() || client.is_handshaking() || server.is_handshaking() {
            if !client.wants_write() && !server.wants_write() {
                return Err(EngineError::library("the handshake", "both ends wait for each other"));
            }
            bytes.clear();
            client.write_tls(&mut bytes).map_err(wire)?;
            pass_on(&bytes, |bytes| server.read_tls(bytes))?;
            server.process_new_packets().map_err(refused("the server"))?;
            bytes.clear();
            server.write_tls(&mut bytes).map_err(wire)?;
            pass_on(&bytes, |bytes| client.read_tls(bytes))?;
            client.process_new_packets().map_err(refused("the client"))?;
        }
        let (got, kind) = output.split_at_mut(NONCE_BYTES);
        server.reader().read_exact(got).map_err(wire)?;
        let kinds = [
            Connection::from(client).handshake_kind(),
            Connection::from(server).handshake_kind(),
        ];
        kind[0] = match kinds {
            [Some(HandshakeKind::Full), Some(HandshakeKind::Full)] => HANDSHAKE_FULL,
            [Some(HandshakeKind::Resumed), Some(HandshakeKind::Resumed)] => HANDSHAKE_RESUMED,
            other => {
                let what = format!("client and server do not agree on its kind: {other:?}");
                return Err(EngineError::library("the handshake", what));
            }
        };
        Ok(())
    }
}

fn pass_on(mut bytes: &[u8], mut read: impl FnMut(&mut &[u8]) -> std::io::Result<usize>) -> Result<(), EngineError> {
    while !bytes.is_empty() {
        read(&mut bytes).map_err(wire)?;
    }
    Ok(())
}

fn wire(error: std::io::Error) -> EngineError {
    EngineError::library("a buffer of TLS", error)
}

fn refused(end: &'static str) -> impl Fn(rustls::Error) -> EngineError {
    move |error| EngineError::library(end, error)
}
