//! The devices that OpenCL's platforms have.

use cl3::{device, info_type::InfoType, platform, types::cl_device_id};

use super::words::{name_of, text_of};
use crate::driver::{Description, Driver};

/// The devices of all platforms, or why there are none.
pub(crate) fn devices() -> Result<Vec<Found>, String> {
    if let Err(error) = cl3::load_library() {
        return Err(format!("the OpenCL library cannot be loaded ({error})"));
    }
    let platforms = platform::get_platform_ids().map_err(|code| {
        match code {
            // CL_PLATFORM_NOT_FOUND_KHR, which the loader of platforms returns where there is none.
            -1001 => "the OpenCL library finds no platform".to_owned(),
            code => format!("the OpenCL library gives no platforms ({})", name_of(code)),
        }
    })?;
    let found: Vec<Found> = platforms
        .into_iter()
        .flat_map(|platform| {
            // A platform without a device says so by an error.
            device::get_device_ids(platform, device::CL_DEVICE_TYPE_ALL)
                .unwrap_or_default()
                .into_iter()
                .filter_map(move |device| describe(platform as isize, device))
        })
        .collect();
    match found.is_empty() {
        true => Err("no OpenCL platform has a device".to_owned()),
        false => Ok(found),
    }
}

/// A device that can be opened.
pub(crate) struct Found {
    pub(crate) description: Description,
    pub(super) id: DeviceId,
}

/// A device as the driver knows it, for as long as the process lives.
#[derive(Clone, Copy)]
pub(super) struct DeviceId(isize);

impl DeviceId {
    pub(super) fn get(self) -> cl_device_id {
        self.0 as cl_device_id
    }
}

fn describe(platform: isize, id: cl_device_id) -> Option<Found> {
    let platform_text = |what| {
        let text = platform::get_platform_data(platform as _, what).ok()?;
        Some(text_of(text))
    };
    let text = |what| device::get_device_data(id, what).ok().map(text_of);
    let number = |what| match device::get_device_info(id, what).ok()? {
        InfoType::Uint(value) => Some(value as usize),
        InfoType::Ulong(value) => Some(usize::try_from(value).unwrap_or(usize::MAX)),
        InfoType::Size(value) => Some(value),
        _ => None,
    };
    let kind = match device::get_device_info(id, device::CL_DEVICE_TYPE).ok()? {
        InfoType::Ulong(kind) => kind,
        _ => return None,
    };
    Some(Found {
        description: Description {
            driver: Driver::OpenCl,
            name: text(device::CL_DEVICE_NAME)?,
            platform: format!(
                "{}, {}",
                platform_text(platform::CL_PLATFORM_NAME)?,
                platform_text(platform::CL_PLATFORM_VERSION)?
            ),
            units: number(device::CL_DEVICE_MAX_COMPUTE_UNITS)?,
            memory: number(device::CL_DEVICE_GLOBAL_MEM_SIZE)?,
            largest_buffer: number(device::CL_DEVICE_MAX_MEM_ALLOC_SIZE)?,
            largest_group: number(device::CL_DEVICE_MAX_WORK_GROUP_SIZE)?,
            is_cpu: kind & device::CL_DEVICE_TYPE_CPU != 0,
            pci: None,
        },
        id: DeviceId(id as isize),
    })
}
