import ReachabilityCore

/// The codes with which the tool exits (those from 64 on as `sysexits.h` names them).
struct ExitStatus: RawRepresentable, Hashable, Sendable {
    /// The code, 0 to 255.
    let rawValue: Int32

    /// It did what was asked for; of `status` and `explain`: reachable.
    static let success = Self(rawValue: 0)
    /// `status` and `explain`: not reachable.
    static let notReachable = Self(rawValue: 1)
    /// `status` and `explain`: it can't be told.
    static let unknown = Self(rawValue: 2)
    /// `EX_USAGE`: the arguments can't be taken.
    static let usage = Self(rawValue: 64)
    /// `EX_DATAERR`: a capture that can't be read.
    static let badData = Self(rawValue: 65)
    /// `EX_OSERR`: the kernel refused what the tool can't do without.
    static let systemFailure = Self(rawValue: 71)
    /// `EX_IOERR`: an output can't be written.
    static let outputFailure = Self(rawValue: 74)
    /// `EX_TEMPFAIL`: the time is up.
    static let timedOut = Self(rawValue: 75)
    /// `EX_NOPERM`: the user may not do that.
    static let notPermitted = Self(rawValue: 77)
    /// As shells say that a command can't be executed.
    static let notExecutable = Self(rawValue: 126)
    /// As shells say that a command was not found.
    static let commandNotFound = Self(rawValue: 127)

    /// As shells say that a command was ended by a signal.
    static func endedBySignal(_ number: Int32) -> Self { .init(rawValue: 128 + number) }
}

extension ExitStatus {
    /// How `status` and `explain` exit.
    init(of status: ReachabilityStatus) {
        switch status {
        case .wifi, .cellular: self = .success
        case .notReachable: self = .notReachable
        case .unknown: self = .unknown
        }
    }
}
