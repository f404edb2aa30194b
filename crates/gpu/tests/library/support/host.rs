//! A device of the host's own: the kernels as plain C in a process of their own, under the address and
//! undefined-behaviour sanitizers. What they find ends the process, and so the test.

use std::{
    io::{Read, Write},
    path::{Path, PathBuf},
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
    sync::{Arc, Mutex, OnceLock},
};

use rsalab_gpu::{
    Description, DriverError, Grid,
    driver::{Argument, Device, Download, Queue},
    kernel::Kernel,
};

/// The program, compiled once a test binary.
fn program() -> &'static Path {
    static PROGRAM: OnceLock<PathBuf> = OnceLock::new();
    PROGRAM.get_or_init(|| {
        let crate_folder = Path::new(env!("CARGO_MANIFEST_DIR"));
        let target = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("kernels-on-host-{}", std::process::id()));
        let compiled = Command::new("cc")
            .args(["-std=c11", "-O2", "-g", "-Wall", "-Wextra", "-Wno-unknown-pragmas"])
            .args(["-fsanitize=address,undefined", "-fno-sanitize-recover=all"])
            .args(["-fno-omit-frame-pointer", "-DRSALAB_HOST", "-I"])
            .arg(crate_folder.join("src/kernel"))
            .arg("-o")
            .arg(&target)
            .arg(crate_folder.join("tests/host/server.c"))
            .output()
            .expect("a C compiler is needed by the program itself");
        let said = String::from_utf8_lossy(&compiled.stderr);
        assert!(compiled.status.success() && said.is_empty(), "{said}");
        target
    })
}

pub(crate) struct HostDevice {
    description: Description,
    server: Arc<Mutex<Server>>,
}

struct Server {
    process: Child,
    to: Option<ChildStdin>,
    from: ChildStdout,
}

impl HostDevice {
    pub(crate) fn start() -> Self {
        HostDevice::start_with(&[])
    }

    /// One that a test takes away: what cannot be reached cannot be wiped.
    pub(crate) fn that_may_be_lost() -> Self {
        HostDevice::start_with(&["may-be-lost"])
    }

    fn start_with(options: &[&str]) -> Self {
        let mut process = Command::new(program())
            .args(options)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("it was compiled");
        HostDevice {
            description: Description {
                name: "this host".to_owned(),
                platform: "C with sanitizers".to_owned(),
                units: 2,
                is_cpu: true,
                ..Description::default()
            },
            server: Arc::new(Mutex::new(Server {
                to: process.stdin.take(),
                from: process.stdout.take().unwrap(),
                process,
            })),
        }
    }

    /// With so little memory that batches are cut into chunks.
    pub(crate) fn with_memory(bytes: usize) -> Self {
        let mut device = HostDevice::start();
        device.description.memory = bytes;
        device
    }
}

impl Server {
    fn send(&mut self, words: &[u32], data: &[u8]) {
        let head: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        let to = self.to.as_mut().expect("it is open until the end");
        let sent = to
            .write_all(&head)
            .and_then(|()| to.write_all(data))
            .and_then(|()| to.flush());
        sent.expect("the kernels have ended: a sanitizer has said why");
    }

    fn receive(&mut self, bytes: usize) -> Vec<u8> {
        let mut data = vec![0; bytes];
        let got = self.from.read_exact(&mut data);
        got.expect("the kernels have ended: a sanitizer has said why");
        data
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        drop(self.to.take());
        let ended = self.process.wait().expect("it was started");
        // Leaks and unwiped memory are found at the end.
        if !std::thread::panicking() {
            assert!(ended.success(), "the kernels ended with {ended}");
        }
    }
}

pub(crate) struct Memory {
    number: u32,
    server: Arc<Mutex<Server>>,
}

impl Drop for Memory {
    fn drop(&mut self) {
        if let Ok(mut server) = self.server.lock() {
            server.send(&[2, self.number], &[]);
        }
    }
}

pub(crate) struct HostQueue {
    server: Arc<Mutex<Server>>,
    downloads: Vec<Vec<u8>>,
}

impl Device for HostDevice {
    type Buffer = Memory;
    type Program = ();
    type Queue = HostQueue;

    fn description(&self) -> &Description {
        &self.description
    }

    fn allocate(&self, bytes: usize) -> Result<Memory, DriverError> {
        let mut server = self.server.lock().unwrap();
        server.send(&[1, bytes as u32], &[]);
        let number = server.receive(4).try_into().unwrap();
        Ok(Memory {
            number: u32::from_le_bytes(number),
            server: Arc::clone(&self.server),
        })
    }

    fn program(&self, _limbs: usize) -> Result<(), DriverError> {
        Ok(())
    }

    fn queue(&self) -> Result<HostQueue, DriverError> {
        Ok(HostQueue {
            server: Arc::clone(&self.server),
            downloads: Vec::new(),
        })
    }
}

impl Queue for HostQueue {
    type Buffer = Memory;
    type Program = ();

    fn upload(&mut self, to: &Memory, bytes: &[u8]) -> Result<(), DriverError> {
        let mut server = self.server.lock().unwrap();
        server.send(&[3, to.number, bytes.len() as u32], bytes);
        Ok(())
    }

    fn download(&mut self, from: &Memory, bytes: usize) -> Result<Download, DriverError> {
        let mut server = self.server.lock().unwrap();
        server.send(&[4, from.number, bytes as u32], &[]);
        self.downloads.push(server.receive(bytes));
        Ok(Download {
            stage: self.downloads.len() - 1,
            bytes,
        })
    }

    fn wipe(&mut self, buffer: &Memory) -> Result<(), DriverError> {
        self.server.lock().unwrap().send(&[5, buffer.number], &[]);
        Ok(())
    }

    fn launch(
        &mut self,
        _program: &(),
        kernel: Kernel,
        grid: Grid,
        arguments: &[Argument<'_, Memory>],
    ) -> Result<(), DriverError> {
        let place = Kernel::ALL.iter().position(|(other, _)| *other == kernel);
        let items = (grid.groups * grid.group) as u32;
        let mut words = vec![6, place.unwrap() as u32, items, arguments.len() as u32];
        for argument in arguments {
            words.extend(match argument {
                Argument::Buffer(buffer) => [0, buffer.number],
                Argument::Word(word) => [1, *word],
            });
        }
        self.server.lock().unwrap().send(&words, &[]);
        Ok(())
    }

    fn submit(&mut self) -> Result<(), DriverError> {
        Ok(())
    }

    fn finish(&mut self) -> Result<(), DriverError> {
        Ok(())
    }

    fn downloaded(&self, download: &Download) -> &[u8] {
        &self.downloads[download.stage]
    }
}
