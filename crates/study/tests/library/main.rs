//! The library's tests, as one program: it is linked once.

mod analyses;
mod articles;
mod bench;
mod browser;
mod calibrate;
mod cpu_gpu;
mod engines;
mod export;
mod golden;
mod interrupted;
mod judged;
mod kill;
mod large_report;
mod links;
mod luck;
mod papers;
mod plan;
mod presets;
mod profile;
mod report;
mod report_files;
mod run;
mod store;
mod support;
mod threads;
