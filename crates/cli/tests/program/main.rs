//! The program as a user meets it: started as a process, judged by its exit code, its output and its files.
#![forbid(unsafe_code)]

mod bad_input;
mod blind;
mod calibrate;
mod cipher;
mod compare;
mod conformance;
mod earlier;
mod elsewhere;
mod encodings;
mod existing;
mod export;
mod interrupted;
mod kernels;
mod key_files;
mod key_texts;
mod keygen;
mod kill;
mod limits;
mod many_keys;
mod measured;
mod messages;
mod parts;
mod passwords;
mod randomness;
mod readme;
mod refused;
mod restricted;
mod several_keys;
mod signals;
mod steps;
mod study;
mod support;
mod usage;
mod verdicts;
mod workers;
