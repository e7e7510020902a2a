//! What can be asked of a control plane: every call, every option of a creation, and which of the known clouds has it.
//!
//! One path through the code reads these tables, so that a call costs a row and not a function.

use super::failure::Doing;

/// Clouds, as a set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Clouds(u8);

impl Clouds {
    /// E2B, and what speaks its protocol.
    pub const E2B: Self = Self(1);
    /// AgentBox.
    pub const AGENTBOX: Self = Self(2);
    /// Alibaba's Agent Sandbox.
    pub const ALIBABA: Self = Self(4);
    /// Those of one family: E2B and AgentBox.
    pub const FAMILY: Self = Self(3);
    /// Every one.
    pub const ALL: Self = Self(7);

    /// Whether one of these is that one.
    pub fn has(self, one: Self) -> bool {
        self.0 & one.0 != 0
    }
}

/// Something that a caller may give, and what becomes of it on the wire.
#[derive(Debug, Clone, Copy)]
pub struct Field {
    /// Its name here.
    pub name: &'static str,
    /// Its name there.
    pub wire: &'static str,
    /// What it is.
    pub kind: Kind,
    /// Who has it; elsewhere it is refused.
    pub clouds: Clouds,
}

/// What a field is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Any text that is not empty.
    Text,
    /// One of these words.
    Word(&'static [&'static str]),
    /// Yes or no.
    Boolean,
    /// A whole number between two bounds, both included.
    Whole(u32, u32),
    /// How long a sandbox lives, in ms; sent in seconds, rounded up; 300 s when absent.
    Lifetime,
    /// A map of texts.
    Texts,
    /// An object, sent as it is.
    Object,
    /// A list of `{name, path}`.
    Mounts,
    /// A date, sent in seconds since 1970.
    Seconds,
    /// A date, sent in ms since 1970.
    Millis,
}

/// A call about one sandbox.
#[derive(Debug, Clone, Copy)]
pub struct Call {
    /// Its name here.
    pub name: &'static str,
    /// The HTTP method. Fields go into the query of a GET and into the JSON body of others.
    pub method: &'static str,
    /// What stands behind the path of the sandbox, or of whatever the call is about.
    pub path: &'static str,
    /// Who has it.
    pub clouds: Clouds,
    /// What it takes.
    pub fields: &'static [Field],
    /// The argument in front of the options, if it has one.
    pub argument: Argument,
    /// Whether making it twice does what making it once does.
    pub repeatable: bool,
    /// Whether it takes as long as starting a sandbox.
    pub slow: bool,
    /// What its answer means.
    pub answer: Answer,
}

/// What stands in front of a call's options.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Argument {
    /// Nothing.
    None,
    /// A field of its own.
    Field(&'static str),
    /// What a sandbox may reach.
    Network,
}

/// What an answer means to the caller.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answer {
    /// Nothing but that it worked.
    Done,
    /// `true`, and `false` for this status, unless an earlier attempt of the call brought that about.
    Unless(u16),
    /// The sandbox itself, which now has this state.
    This,
    /// What the control plane knows of the sandbox.
    Info,
    /// Sandboxes, or why there is none.
    Forks,
    /// A snapshot.
    Snapshot,
    /// Measurements.
    Metrics,
    /// Log entries.
    Logs,
}

const fn field(name: &'static str, wire: &'static str, kind: Kind, clouds: Clouds) -> Field {
    Field { name, wire, kind, clouds }
}

const TIMEOUT: Field = field("timeoutMs", "timeout", Kind::Lifetime, Clouds::ALL);

/// A quick call that every cloud has, without body and answer.
const CALL: Call = Call {
    name: "",
    method: "POST",
    path: "",
    clouds: Clouds::ALL,
    fields: &[],
    argument: Argument::None,
    repeatable: true,
    slow: false,
    answer: Answer::Done,
};

/// The calls. Where a name stands twice, each cloud has its own of them.
pub const CALLS: &[Call] = &[
    Call { name: "kill", method: "DELETE", answer: Answer::Unless(404), ..CALL },
    Call { name: "getInfo", method: "GET", answer: Answer::Info, ..CALL },
    Call { name: "setTimeout", path: "/timeout", fields: &[TIMEOUT], argument: Argument::Field("timeoutMs"), ..CALL },
    Call {
        name: "connect",
        path: "/connect",
        clouds: Clouds::FAMILY,
        fields: &[TIMEOUT],
        slow: true,
        answer: Answer::This,
        ..CALL
    },
    // There it reads, and neither resumes nor extends.
    Call { name: "connect", method: "GET", clouds: Clouds::ALIBABA, slow: true, answer: Answer::This, ..CALL },
    Call { name: "resume", path: "/connect", clouds: Clouds::FAMILY, fields: &[TIMEOUT], slow: true, answer: Answer::This, ..CALL },
    Call { name: "resume", path: "/resume", clouds: Clouds::ALIBABA, slow: true, answer: Answer::This, ..CALL },
    Call {
        name: "pause",
        path: "/pause",
        fields: &[field("keepMemory", "memory", Kind::Boolean, Clouds::FAMILY)],
        slow: true,
        answer: Answer::Unless(409),
        ..CALL
    },
    Call {
        name: "fork",
        path: "/fork",
        clouds: Clouds::FAMILY,
        fields: &[TIMEOUT, field("count", "count", Kind::Whole(1, 100), Clouds::FAMILY)],
        repeatable: false,
        slow: true,
        answer: Answer::Forks,
        ..CALL
    },
    Call {
        name: "createSnapshot",
        path: "/snapshots",
        clouds: Clouds::FAMILY,
        fields: &[field("name", "name", Kind::Text, Clouds::FAMILY)],
        repeatable: false,
        slow: true,
        answer: Answer::Snapshot,
        ..CALL
    },
    Call {
        name: "getMetrics",
        method: "GET",
        path: "/metrics",
        clouds: Clouds::FAMILY,
        fields: &[field("start", "start", Kind::Seconds, Clouds::FAMILY), field("end", "end", Kind::Seconds, Clouds::FAMILY)],
        answer: Answer::Metrics,
        ..CALL
    },
    Call {
        name: "logs",
        method: "GET",
        path: "/logs",
        clouds: Clouds::FAMILY,
        fields: &[
            field("start", "cursor", Kind::Millis, Clouds::FAMILY),
            field("limit", "limit", Kind::Whole(1, 1000), Clouds::FAMILY),
            field("direction", "direction", Kind::Word(&["forward", "backward"]), Clouds::FAMILY),
            field("level", "level", Kind::Word(&["debug", "info", "warn", "error"]), Clouds::FAMILY),
            field("search", "search", Kind::Text, Clouds::FAMILY),
        ],
        answer: Answer::Logs,
        ..CALL
    },
    Call { name: "updateNetwork", method: "PUT", path: "/network", clouds: Clouds::FAMILY, argument: Argument::Network, ..CALL },
    Call { name: "deleteSnapshot", method: "DELETE", clouds: Clouds::FAMILY, answer: Answer::Unless(404), ..CALL },
];

/// The call of that name as that cloud has it; another cloud's when it has none.
pub fn call(name: &str, cloud: Clouds) -> Option<&'static Call> {
    let named = || CALLS.iter().filter(|call| call.name == name);
    named().find(|call| call.clouds.has(cloud)).or_else(|| named().next())
}

impl Call {
    /// Where the call goes, for an id that is percent-encoded already.
    pub fn path(&self, id: &str) -> String {
        let before = match self.name {
            "deleteSnapshot" => "/templates/",
            // The first version of this call is deprecated.
            "logs" => "/v2/sandboxes/",
            _ => "/sandboxes/",
        };
        [before, id, self.path].concat()
    }

    /// What a failure means.
    pub fn doing(&self) -> Doing {
        if self.name == "deleteSnapshot" { Doing::List } else { Doing::Sandbox }
    }
}

/// The options of a creation that are sent as they are. Those with parts of their own are in `js/creation.js`.
pub const CREATION: &[Field] = &[
    field("metadata", "metadata", Kind::Texts, Clouds::ALL),
    field("envs", "envVars", Kind::Texts, Clouds::ALL),
    field("cpu", "cpuCount", Kind::Whole(1, u32::MAX), Clouds::ALIBABA),
    field("memory", "memoryMB", Kind::Whole(1, u32::MAX), Clouds::ALIBABA),
    field("disk", "diskSizeMB", Kind::Whole(1, u32::MAX), Clouds::ALIBABA),
    field("gpu", "gpu", Kind::Text, Clouds::ALIBABA),
    field("mcp", "mcp", Kind::Object, Clouds::E2B),
    field("volumeMounts", "volumeMounts", Kind::Mounts, Clouds(5)),
    // Sent by other means, and only refused here.
    field("network", "", Kind::Object, Clouds::FAMILY),
    field("iam", "", Kind::Object, Clouds::FAMILY),
    field("lifecycle", "", Kind::Object, Clouds::FAMILY),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_call_leads_where_the_protocol_has_it() {
        for (name, cloud, expected) in [
            ("kill", Clouds::E2B, "DELETE /sandboxes/i1"),
            ("connect", Clouds::AGENTBOX, "POST /sandboxes/i1/connect"),
            ("connect", Clouds::ALIBABA, "GET /sandboxes/i1"),
            ("resume", Clouds::E2B, "POST /sandboxes/i1/connect"),
            ("resume", Clouds::ALIBABA, "POST /sandboxes/i1/resume"),
            ("logs", Clouds::E2B, "GET /v2/sandboxes/i1/logs"),
            ("updateNetwork", Clouds::E2B, "PUT /sandboxes/i1/network"),
            ("deleteSnapshot", Clouds::E2B, "DELETE /templates/i1"),
        ] {
            let call = call(name, cloud).unwrap();
            assert_eq!(format!("{} {}", call.method, call.path("i1")), expected);
            assert!(call.clouds.has(cloud));
        }
    }

    #[test]
    fn what_a_cloud_lacks_is_found_and_known_as_lacking() {
        assert!(!call("fork", Clouds::ALIBABA).unwrap().clouds.has(Clouds::ALIBABA));
        assert!(call("sing", Clouds::E2B).is_none());
    }

    #[test]
    fn calls_that_make_something_are_never_repeated() {
        for call in CALLS {
            assert_eq!(call.repeatable, !matches!(call.answer, Answer::Forks | Answer::Snapshot), "{}", call.name);
        }
    }
}
