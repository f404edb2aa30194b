//! OpenSSL's server and client.

use std::{
    io::{BufRead, BufReader, Read, Write},
    net::TcpListener,
    process::{Child, Stdio},
};

use super::Here;

/// `openssl s_server`, which ends with the test.
pub(crate) struct Server {
    process: Child,
    port: u16,
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

impl Server {
    /// With this provider preferred or without it, and with these options, which name a certificate and a key.
    pub(crate) fn new(here: &Here, with_ours: bool, options: &str) -> Server {
        let free = TcpListener::bind("127.0.0.1:0");
        let port = free.unwrap().local_addr().unwrap().port();
        let line = format!("s_server -accept 127.0.0.1:{port} -www {options}");
        let mut command = here.command(with_ours, &line);
        let process = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn();
        let process = process.unwrap();
        let mut server = Server { process, port };
        let mut lines = BufReader::new(server.process.stdout.take().unwrap());
        let mut said = String::new();
        while !said.contains("ACCEPT") {
            assert_ne!(lines.read_line(&mut said).unwrap(), 0, "the server ended: {said}");
        }
        server
    }

    /// The page that `openssl s_client` gets with these options, one of which names whom it trusts.
    pub(crate) fn page(&self, here: &Here, with_ours: bool, options: &str) -> String {
        let line = format!(
            "s_client -connect 127.0.0.1:{} -verify_return_error -quiet {options}",
            self.port
        );
        let mut client = here.command(with_ours, &line);
        let client = client
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null());
        let mut client = client.spawn().unwrap();
        let mut input = client.stdin.take().unwrap();
        // A client that was refused has ended, and reads nothing.
        let _ = input.write_all(b"GET / HTTP/1.0\r\n\r\n");
        drop(input);
        let mut page = Vec::new();
        client.stdout.take().unwrap().read_to_end(&mut page).unwrap();
        client.wait().unwrap();
        String::from_utf8_lossy(&page).into_owned()
    }
}
