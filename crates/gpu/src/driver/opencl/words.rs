//! OpenCL's answers in words: texts, and codes of calls that failed.

use cl3::{error_codes, types::cl_int};

use crate::driver::DriverError;

/// A text as drivers give it, with a zero at its end and spaces anywhere.
pub(super) fn text_of(mut bytes: Vec<u8>) -> String {
    if let Some(end) = bytes.iter().position(|&byte| byte == 0) {
        bytes.truncate(end);
    }
    let text = String::from_utf8_lossy(&bytes);
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

pub(super) fn name_of(code: cl_int) -> String {
    match code {
        -1001 => "CL_PLATFORM_NOT_FOUND_KHR".to_owned(),
        // NVIDIA's, for an access outside of memory.
        -9999 => "-9999".to_owned(),
        code => format!("{} ({code})", error_codes::error_text(code)),
    }
}

/// The error that a failed call means.
pub(super) fn failed(call: &'static str, bytes: usize) -> impl Fn(cl_int) -> DriverError {
    move |code| {
        let name = name_of(code);
        match code {
            error_codes::CL_MEM_OBJECT_ALLOCATION_FAILURE
            | error_codes::CL_OUT_OF_RESOURCES
            | error_codes::CL_OUT_OF_HOST_MEMORY
            | error_codes::CL_INVALID_BUFFER_SIZE => DriverError::OutOfMemory {
                bytes,
                call,
                code: name,
            },
            error_codes::CL_DEVICE_NOT_AVAILABLE
            | error_codes::CL_INVALID_CONTEXT
            | error_codes::CL_INVALID_COMMAND_QUEUE
            | error_codes::CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST
            | -9999 => DriverError::Lost { call, code: name },
            _ => DriverError::Call { call, code: name },
        }
    }
}
