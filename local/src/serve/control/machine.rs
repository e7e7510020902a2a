//! The size of the machine, which is the size of every sandbox on it.

use super::super::data::DataDir;

/// Sizes as answers carry them.
pub struct Machine {
    /// Processors that the platform may use.
    pub cpus: usize,
    /// Memory in MiB.
    pub memory_mb: u64,
    /// The disk under the data folder in MiB.
    pub disk_mb: u64,
}

impl Machine {
    /// Measures; what the system does not tell is 0.
    pub fn measure(data: &DataDir) -> Self {
        let system = rustix::system::sysinfo();
        let memory = system.totalram.saturating_mul(system.mem_unit.into());
        let disk = data.handle().ok().and_then(|folder| rustix::fs::fstatvfs(folder).ok());
        Self {
            cpus: std::thread::available_parallelism().map_or(1, usize::from),
            memory_mb: memory >> 20,
            disk_mb: disk.map_or(0, |disk| disk.f_blocks.saturating_mul(disk.f_frsize) >> 20),
        }
    }
}
