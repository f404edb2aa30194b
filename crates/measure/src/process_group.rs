//! Processes that were started together, and are ended together: what is left of a worker would take time from
//! whatever is measured next.

/// Kills all processes of a group, whose leader the caller has started and not waited for yet: until then nobody else
/// is given its number. Nothing happens where all of them have ended, and where processes have no groups.
#[cfg(unix)]
pub fn kill(leader: u32) {
    use rustix::process::{Pid, Signal, kill_process_group};
    let group = i32::try_from(leader).ok().and_then(Pid::from_raw);
    // "The group of the first process" means all processes there are.
    if let Some(group) = group.filter(|group| !group.is_init()) {
        let _ = kill_process_group(group, Signal::KILL);
    }
}

/// Does nothing: processes have no groups here.
#[cfg(not(unix))]
pub fn kill(_leader: u32) {}
