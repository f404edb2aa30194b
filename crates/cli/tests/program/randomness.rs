//! A system whose random numbers are not random: anybody could make the same keys, so that none is made. On Linux with
//! glibc, where a library that is loaded first can take the place of `getrandom`.
#![cfg(all(target_os = "linux", target_env = "gnu"))]

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Output},
};

use crate::support::{assert_done, assert_failure, folder, rsalab, study_key};

/// Takes the place of the C library's ways to random bytes, and of the system's devices. `GIVE` is what stands at a
/// place.
const SHIM: &str = r#"
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

static void give(unsigned char *out, size_t length) {
  for (size_t place = 0; place < length; place++) out[place] = (unsigned char)(GIVE);
}

static int fails(void) {
#ifdef FAIL_FROM
  static int calls;
  if (__sync_add_and_fetch(&calls, 1) >= FAIL_FROM) {
    errno = FAIL_WITH;
    return 1;
  }
#endif
  return 0;
}

ssize_t getrandom(void *out, size_t length, unsigned int flags) {
  (void)flags;
  if (fails()) return -1;
  give(out, length);
  return (ssize_t)length;
}

int getentropy(void *out, size_t length) {
  if (fails()) return -1;
  give(out, length);
  return 0;
}

static const char *instead_of(const char *path) {
  int is_random = !strcmp(path, "/dev/urandom") || !strcmp(path, "/dev/random");
#ifdef FAIL_FROM
  return is_random ? "/none" : path;
#endif
  return is_random ? "/dev/zero" : path;
}

#define OPEN(name)                                                  \
  int name(const char *path, int flags, ...) {                      \
    int (*real)(const char *, int, ...) = dlsym(RTLD_NEXT, #name);  \
    va_list rest;                                                   \
    va_start(rest, flags);                                          \
    unsigned int mode = va_arg(rest, unsigned int);                 \
    va_end(rest);                                                   \
    return real(instead_of(path), flags, mode);                     \
  }

OPEN(open)
OPEN(open64)
"#;

/// Compiles the shim; none, said visibly, without a C compiler.
fn shim(here: &Path, name: &str, give: &str) -> Option<PathBuf> {
    compiled(here, name, &[format!("-DGIVE={give}")])
}

/// A source that fails from one call on, with a number of the system's.
fn failing(here: &Path, from: u32, with: &str) -> Option<PathBuf> {
    let options = [
        "-DGIVE=rand() >> 7".to_owned(),
        format!("-DFAIL_FROM={from}"),
        format!("-DFAIL_WITH={with}"),
    ];
    compiled(here, &format!("failing-{from}-{with}"), &options)
}

fn compiled(here: &Path, name: &str, options: &[String]) -> Option<PathBuf> {
    fs::write(here.join("shim.c"), SHIM).expect("the folder can be written to");
    let library = here.join(format!("{name}.so"));
    let compiled = Command::new("cc")
        .args(["-shared", "-fPIC", "-O1", "shim.c", "-ldl", "-o"])
        .arg(&library)
        .args(options)
        .current_dir(here)
        .output();
    match compiled {
        Ok(output) if output.status.success() => Some(library),
        Ok(output) => panic!("{}", String::from_utf8_lossy(&output.stderr)),
        Err(error) => {
            eprintln!("SKIPPED: there is no C compiler to replace getrandom with: {error}");
            None
        }
    }
}

fn typed(here: &Path, shim: &Path, line: &str) -> Output {
    rsalab(here)
        .env("LD_PRELOAD", shim)
        .args(line.split(' '))
        .output()
        .expect("the program starts")
}

#[test]
fn constant_randomness_is_refused_and_not_used() {
    let here = folder();
    let here = here.path();
    study_key(here, 2048);
    fs::write(here.join("message"), "a message").expect("the folder can be written to");
    for line in [
        "encrypt --raw-oaep --key public.pem message --out message.enc",
        "encrypt --key public.pem message --out message.age",
        "text-encrypt --key public.pem message --out message.rsa",
    ] {
        let output = rsalab(here).args(line.split(' ')).output();
        assert_done(&output.expect("the program starts"));
    }
    for (name, give, found) in [
        ("constant", "0x5a", "the same byte 11 times in a row"),
        ("zeros", "0", "the same byte 11 times in a row"),
        // Every call gives the same block, in which no byte follows itself.
        (
            "block",
            "(place * place * 7 + place * 31 + (place >> 4) * 101) >> 2",
            "the same 16 bytes twice",
        ),
    ] {
        let Some(shim) = shim(here, name, give) else {
            return;
        };
        for line in [
            "keygen --out new.pem",
            "keygen --out new.pem --strict",
            "keygen --out new.pem --format pkcs8-encrypted --password-file message",
            "keygen --out new.pem --engine textbook",
            "keygen --out many --count 3",
            "sign --key key.pem message --sig sig",
            "sign --key key.pem message --sig sig --scheme pkcs1v15",
            "encrypt --scheme oaep --key public.pem message --out secret",
            "encrypt --scheme pkcs1v15 --key public.pem message --out secret",
            "encrypt --key public.pem message --out secret",
            "decrypt --key key.pem message.enc --out secret",
            "decrypt --key key.pem message.age --out secret",
            "text-decrypt --key key.pem message.rsa --out secret",
            "raw-private --key key.pem --in message.enc --out secret",
            "key check key.pem",
            "audit key.pem",
            "key convert key.pem --format jwk --out secret",
        ] {
            let output = typed(here, &shim, line);
            assert_failure(&output, 6, "its health test found ");
            assert_failure(&output, 6, found);
        }
        for file in ["new.pem", "sig", "secret"] {
            assert!(!here.join(file).exists(), "{file} was made");
        }
        let many = fs::read_dir(here.join("many")).into_iter().flatten();
        let keys = many.filter(|file| {
            let name = file.as_ref().expect("it is read").file_name();
            name.to_string_lossy().starts_with("key-")
        });
        assert_eq!(keys.count(), 0, "a key was made");
        let _ = fs::remove_dir_all(here.join("many"));
        // What needs no random numbers works.
        assert_done(&typed(here, &shim, "key public key.pem --out half.pem"));
        fs::remove_file(here.join("half.pem")).expect("it was made");
    }
    // The shim itself takes nothing away from the program.
    let random = shim(here, "random", "rand() >> 7");
    let made = typed(here, &random.expect("it compiled before"), "keygen --out new.pem");
    assert_done(&made);
}

#[test]
fn a_source_that_fails_at_any_call_is_said_and_nothing_panics() {
    let here = folder();
    let here = here.path();
    study_key(here, 1024);
    fs::write(here.join("message"), "a message").expect("the folder can be written to");
    fs::write(here.join("requests"), "{\"op\":\"primality\",\"value\":\"10001\"}\n").expect("as before");
    let lists = here.join("blocklists");
    fs::create_dir(&lists).expect("as before");
    fs::write(lists.join("blacklist.RSA-1024"), "0123456789abcdef0123\n").expect("as before");
    for from in 1..=3 {
        let Some(shim) = failing(here, from, "EIO") else {
            return;
        };
        let mut refused = 0;
        for line in [
            "keygen --out new.pem",
            "keygen --count 3 --out many",
            "sign --key key.pem message --sig sig",
            "blind request --key public.pem message",
            "key check key.pem --blocklist blocklists",
            "audit key.pem",
            "bench --op public --bits 512 --engines own --seconds 0.1 --allow-unoptimised",
            "study smoke --engines own --bits 512 --seconds 0.1 --allow-unoptimised --out study",
        ] {
            let output = typed(here, &shim, line);
            let said = String::from_utf8_lossy(&output.stderr).into_owned();
            match output.status.code() {
                Some(6) => {
                    assert!(said.contains("random"), "{line}: {said}");
                    refused += 1;
                }
                // It needed no more than it had, or its workers had none.
                code => assert!(matches!(code, Some(0 | 4)), "{from} {line}: {said}"),
            }
            assert!(!said.contains("defect") && !said.contains("panicked"), "{line}: {said}");
            for made in ["new.pem", "sig", "message.blinded", "message.state"] {
                let _ = fs::remove_file(here.join(made));
            }
            for made in ["many", "study"] {
                let _ = fs::remove_dir_all(here.join(made));
            }
        }
        assert!(refused > 3, "from call {from} on, {refused} were refused");
        let answers = rsalab(here)
            .env("LD_PRELOAD", &shim)
            .args(["vectors", "-"])
            .pipe_stdin(here.join("requests"))
            .expect("it is there")
            .output()
            .expect("the program starts");
        let said = String::from_utf8_lossy(&answers.stderr).into_owned();
        assert!(matches!(answers.status.code(), Some(0 | 6)), "{said}");
    }
}

#[test]
#[ignore = "long: make test-all"]
fn a_source_that_is_interrupted_for_ever_is_not_waited_for() {
    let here = folder();
    let here = here.path();
    study_key(here, 1024);
    let Some(shim) = failing(here, 1, "EINTR") else {
        return;
    };
    for line in ["keygen --out new.pem", "sign --key key.pem public.pem --sig sig"] {
        assert_failure(&typed(here, &shim, line), 6, "gave nothing for 10 s");
    }
}
