//! The Connect protocol's error codes, and how they stand to HTTP statuses.

/// A Connect error code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Code {
    /// The caller gave up.
    Canceled = 1,
    /// Nothing more is known.
    Unknown,
    /// The request is wrong whatever the server's state.
    InvalidArgument,
    /// The deadline passed.
    DeadlineExceeded,
    /// What was asked for does not exist.
    NotFound,
    /// What was to be made exists.
    AlreadyExists,
    /// The caller may not do this.
    PermissionDenied,
    /// A quota, a rate or a disk is used up.
    ResourceExhausted,
    /// The server's state does not allow it.
    FailedPrecondition,
    /// A concurrent change got in the way.
    Aborted,
    /// Past the valid range.
    OutOfRange,
    /// The server cannot do this at all.
    Unimplemented,
    /// The server broke a promise of its own.
    Internal,
    /// The server cannot be reached now.
    Unavailable,
    /// Data is lost for good.
    DataLoss,
    /// The caller has not said who it is, or wrongly.
    Unauthenticated,
}

impl Code {
    /// Every code, in the order of their numbers.
    pub const ALL: [Self; 16] = [
        Self::Canceled,
        Self::Unknown,
        Self::InvalidArgument,
        Self::DeadlineExceeded,
        Self::NotFound,
        Self::AlreadyExists,
        Self::PermissionDenied,
        Self::ResourceExhausted,
        Self::FailedPrecondition,
        Self::Aborted,
        Self::OutOfRange,
        Self::Unimplemented,
        Self::Internal,
        Self::Unavailable,
        Self::DataLoss,
        Self::Unauthenticated,
    ];

    /// The code's name on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Canceled => "canceled",
            Self::Unknown => "unknown",
            Self::InvalidArgument => "invalid_argument",
            Self::DeadlineExceeded => "deadline_exceeded",
            Self::NotFound => "not_found",
            Self::AlreadyExists => "already_exists",
            Self::PermissionDenied => "permission_denied",
            Self::ResourceExhausted => "resource_exhausted",
            Self::FailedPrecondition => "failed_precondition",
            Self::Aborted => "aborted",
            Self::OutOfRange => "out_of_range",
            Self::Unimplemented => "unimplemented",
            Self::Internal => "internal",
            Self::Unavailable => "unavailable",
            Self::DataLoss => "data_loss",
            Self::Unauthenticated => "unauthenticated",
        }
    }

    /// The code of that name, if there is one.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|code| code.as_str() == name)
    }

    /// The HTTP status of a unary answer that failed with this code.
    pub fn http_status(self) -> u16 {
        match self {
            Self::Canceled => 499,
            Self::InvalidArgument | Self::FailedPrecondition | Self::OutOfRange => 400,
            Self::DeadlineExceeded => 504,
            Self::NotFound => 404,
            Self::AlreadyExists | Self::Aborted => 409,
            Self::PermissionDenied => 403,
            Self::ResourceExhausted => 429,
            Self::Unimplemented => 501,
            Self::Unavailable => 503,
            Self::Unauthenticated => 401,
            Self::Unknown | Self::Internal | Self::DataLoss => 500,
        }
    }

    /// The code that an answer without a Connect error stands for: a proxy's page, or envd's own 401.
    pub fn from_http_status(status: u16) -> Self {
        match status {
            400 => Self::Internal,
            401 => Self::Unauthenticated,
            403 => Self::PermissionDenied,
            404 => Self::Unimplemented,
            429 | 502 | 503 | 504 => Self::Unavailable,
            _ => Self::Unknown,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_numbers_are_those_of_the_protocol() {
        for (at, code) in Code::ALL.into_iter().enumerate() {
            assert_eq!(code as usize, at + 1);
            assert_eq!(Code::from_name(code.as_str()), Some(code));
        }
        assert_eq!(Code::from_name("Canceled"), None);
        assert_eq!(Code::from_name(""), None);
    }

    #[test]
    fn a_401_without_a_connect_error_is_unauthenticated_and_a_gateway_page_unavailable() {
        assert_eq!(Code::from_http_status(401), Code::Unauthenticated);
        assert_eq!(Code::from_http_status(502), Code::Unavailable);
        assert_eq!(Code::from_http_status(418), Code::Unknown);
    }
}
