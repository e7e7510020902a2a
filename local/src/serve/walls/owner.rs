//! Which user namespace owns another namespace.

use rustix::fd::{FromRawFd, OwnedFd};
use rustix::io;
use rustix::ioctl::{Ioctl, IoctlOutput, Opcode, ioctl};
use std::ffi::c_void;

/// `NS_GET_USERNS` of ioctl_ns(2).
struct GetUserNamespace;

// SAFETY: the request takes no argument and returns a new descriptor, which nobody else owns.
unsafe impl Ioctl for GetUserNamespace {
    type Output = OwnedFd;
    const IS_MUTATING: bool = false;

    fn opcode(&self) -> Opcode {
        0xb701
    }

    fn as_ptr(&mut self) -> *mut c_void {
        std::ptr::null_mut()
    }

    unsafe fn output_from_ptr(out: IoctlOutput, _: *mut c_void) -> io::Result<OwnedFd> {
        // SAFETY: the kernel has just made this descriptor for us.
        Ok(unsafe { OwnedFd::from_raw_fd(out) })
    }
}

/// The user namespace that owns `namespace`.
///
/// # Errors
/// When the kernel does not say, or the owner is out of our reach.
pub fn owner_of(namespace: &OwnedFd) -> io::Result<OwnedFd> {
    // SAFETY: the request is made on a namespace's descriptor and touches no memory.
    unsafe { ioctl(namespace, GetUserNamespace) }
}
