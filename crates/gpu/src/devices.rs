//! Which devices there are, and opening one.

use std::{
    fmt,
    sync::{Mutex, PoisonError},
    time::Duration,
};

use crate::{
    backend::{Gpu, GpuBackend},
    driver::{
        CudaDevice, Description, Driver, DriverError, Kernels, OpenClDevice, PeerKernel, Rate, cuda,
        faulty::{Faults, FaultyDevice},
        opencl,
    },
    kernel::Launch,
};

/// The devices that every driver found.
pub struct Survey {
    found: Vec<Found>,
    /// Drivers without a device, and why.
    pub absent: Vec<(Driver, String)>,
}

enum Found {
    Cuda(cuda::Found),
    OpenCl(opencl::Found),
}

impl Found {
    fn description(&self) -> &Description {
        match self {
            Found::Cuda(found) => &found.description,
            Found::OpenCl(found) => &found.description,
        }
    }
}

impl Survey {
    /// Asks every driver. Graphics processors come first, then CPUs; of each, NVIDIA's driver before OpenCL.
    pub fn take() -> Self {
        /// Drivers start when they are first asked, and PoCL 3.1 does not bear being asked by two threads then.
        static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
        let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
        let mut survey = Survey {
            found: Vec::new(),
            absent: Vec::new(),
        };
        match cuda::devices() {
            Ok(found) => survey.found.extend(found.into_iter().map(Found::Cuda)),
            Err(reason) => survey.absent.push((Driver::Cuda, reason)),
        }
        match opencl::devices() {
            Ok(found) => survey.found.extend(found.into_iter().map(Found::OpenCl)),
            Err(reason) => survey.absent.push((Driver::OpenCl, reason)),
        }
        survey.found.sort_by_key(|found| {
            let description = found.description();
            (description.is_cpu, description.driver)
        });
        survey
    }

    /// The survey of a machine where no driver has a device: for whoever wants to see what becomes of that.
    pub fn of_nothing(absent: Vec<(Driver, String)>) -> Self {
        Survey {
            found: Vec::new(),
            absent,
        }
    }

    /// The devices, with the choices that name them.
    pub fn devices(&self) -> impl Iterator<Item = (Choice, &Description)> {
        self.found.iter().enumerate().map(|(place, found)| {
            let description = found.description();
            let before = self.found[..place].iter();
            let number = before
                .filter(|other| other.description().driver == description.driver)
                .count();
            let choice = Choice::Device {
                driver: description.driver,
                number,
            };
            (choice, description)
        })
    }

    /// Opens one.
    ///
    /// # Errors
    ///
    /// [`DriverError::NoDevice`] if there is none, or not the one that was asked for; the driver's.
    pub fn open(&self, choice: Choice, launch: Launch) -> Result<Box<dyn Gpu>, DriverError> {
        self.open_with(choice, launch, Kernels::Fastest)
    }

    /// Opens one, to run the kernels that are asked for.
    ///
    /// # Errors
    ///
    /// As for [`open`](Self::open).
    pub fn open_with(&self, choice: Choice, launch: Launch, kernels: Kernels) -> Result<Box<dyn Gpu>, DriverError> {
        Ok(match self.chosen(choice)? {
            Found::Cuda(found) => Box::new(GpuBackend::new(CudaDevice::open(found, kernels)?, launch)?),
            Found::OpenCl(found) => Box::new(GpuBackend::new(OpenClDevice::open(found)?, launch)?),
        })
    }

    /// Opens one that fails when it is told to.
    ///
    /// # Errors
    ///
    /// As for [`open`](Self::open).
    pub fn open_faulty(&self, choice: Choice, launch: Launch, faults: &Faults) -> Result<Box<dyn Gpu>, DriverError> {
        let faults = faults.clone();
        Ok(match self.chosen(choice)? {
            Found::Cuda(found) => {
                let device = FaultyDevice::new(CudaDevice::open(found, Kernels::Fastest)?, faults);
                Box::new(GpuBackend::new(device, launch)?)
            }
            Found::OpenCl(found) => {
                let device = FaultyDevice::new(OpenClDevice::open(found)?, faults);
                Box::new(GpuBackend::new(device, launch)?)
            }
        })
    }

    /// How many instructions of some kinds a device does in a second.
    ///
    /// # Errors
    ///
    /// As for [`open`](Self::open); and if its driver is not CUDA.
    pub fn rates(&self, choice: Choice) -> Result<Vec<Rate>, DriverError> {
        self.cuda(choice)?.rates()
    }

    /// How long the fastest run of somebody else's kernel took, of those that fit some time, two at least. `bytes` is
    /// what its memory begins with, and in the end what the last run left there.
    ///
    /// Such a kernel becomes a part of the program, as a library does that is loaded: whoever gives it vouches for it.
    /// It takes the address of that memory and a count, and must keep to the memory.
    ///
    /// # Errors
    ///
    /// As for [`rates`](Self::rates); and if the driver refuses the kernel.
    pub fn time_of_peer(
        &self,
        choice: Choice,
        peer: &PeerKernel<'_>,
        bytes: &mut [u8],
        time: Duration,
    ) -> Result<Duration, DriverError> {
        self.cuda(choice)?.time_of_peer(peer, bytes, time)
    }

    /// A device of CUDA's, for what is measured by way of it only.
    fn cuda(&self, choice: Choice) -> Result<CudaDevice, DriverError> {
        match self.chosen(choice)? {
            Found::Cuda(found) => CudaDevice::open(found, Kernels::Fastest),
            Found::OpenCl(_) => Err(DriverError::NoDevice {
                reason: "this is measured by way of CUDA only".to_owned(),
            }),
        }
    }

    fn chosen(&self, choice: Choice) -> Result<&Found, DriverError> {
        let place = match choice {
            Choice::First => (!self.found.is_empty()).then_some(0),
            chosen => self.devices().position(|(choice, _)| choice == chosen),
        };
        place
            .map(|place| &self.found[place])
            .ok_or_else(|| DriverError::NoDevice {
                reason: self.why_not(choice),
            })
    }

    fn why_not(&self, choice: Choice) -> String {
        let there_are: Vec<String> = self
            .devices()
            .map(|(choice, description)| format!("{choice} is {description}"))
            .collect();
        let absent = self.absent.iter().filter(|(driver, _)| match choice {
            Choice::First => true,
            Choice::Device { driver: asked, .. } => *driver == asked,
        });
        let mut reasons: Vec<String> = absent.map(|(_, reason)| reason.clone()).collect();
        if let (Choice::Device { .. }, false) = (choice, there_are.is_empty()) {
            reasons.push(format!("there is no {choice}: {}", there_are.join("; ")));
        }
        reasons.join(", and ")
    }
}

/// Which device.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Choice {
    /// The first of the [`Survey`].
    #[default]
    First,
    /// One of a driver's, counted from 0: `opencl0`.
    Device {
        /// The driver.
        driver: Driver,
        /// Its place among the driver's devices, graphics processors first.
        number: usize,
    },
}

impl Choice {
    /// Reads what [`Display`](fmt::Display) writes.
    pub fn parse(text: &str) -> Option<Self> {
        if text == "first" {
            return Some(Choice::First);
        }
        [Driver::Cuda, Driver::OpenCl].into_iter().find_map(|driver| {
            let number = text.strip_prefix(driver.name())?;
            let is_plain = number.bytes().all(|byte| byte.is_ascii_digit());
            let number = number.parse().ok().filter(|_| is_plain)?;
            Some(Choice::Device { driver, number })
        })
    }
}

impl fmt::Display for Choice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Choice::First => f.write_str("first"),
            Choice::Device { driver, number } => write!(f, "{}{number}", driver.name()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn choices_are_read_as_they_are_written() {
        for text in ["first", "opencl0", "opencl12", "cuda3"] {
            assert_eq!(Choice::parse(text).unwrap().to_string(), text);
        }
        for text in [
            "",
            "opencl",
            "cuda-1",
            "cuda+1",
            "opencl 1",
            "vulkan0",
            "cuda99999999999999999999",
        ] {
            assert_eq!(Choice::parse(text), None, "{text}");
        }
    }

    #[test]
    fn nothing_is_said_to_be_missing_without_a_reason() {
        let survey = Survey::of_nothing(vec![(Driver::Cuda, "A".to_owned()), (Driver::OpenCl, "B".to_owned())]);
        let refused = |choice| match survey.open(choice, Launch::Tuned) {
            Err(failure) => failure.to_string(),
            Ok(_) => panic!("there is no device"),
        };
        assert_eq!(refused(Choice::First), "no device, because A, and B");
        let choice = Choice::parse("opencl0").unwrap();
        assert_eq!(refused(choice), "no device, because B");
    }
}
