package import LinuxSystem
import NetwatchCore
package import Reachability
package import ReachabilityCore

/// Why a command ends early: one line for stderr, and the code to exit with.
package struct ToolError: Error, Hashable {
    /// The problem, its place and its fix, in one line.
    package let message: String
    /// The code to exit with.
    package let status: ExitStatus

    package init(_ message: String, exit status: ExitStatus) {
        self.message = message
        self.status = status
    }
}

/// The codes with which the tool exits (those from 64 on as `sysexits.h` names them).
package struct ExitStatus: RawRepresentable, Hashable, Sendable {
    /// The code, 0 to 255.
    package let rawValue: Int32

    package init(rawValue: Int32) { self.rawValue = rawValue }

    /// Success; for `status` and `explain`: reachable.
    package static let success = Self(rawValue: 0)
    /// `status` and `explain`: not reachable.
    package static let notReachable = Self(rawValue: 1)
    /// `status` and `explain`: unknown.
    package static let unknown = Self(rawValue: 2)
    /// `EX_USAGE`: the arguments cannot be taken.
    package static let usage = Self(rawValue: 64)
    /// `EX_DATAERR`: a capture that cannot be read.
    package static let badData = Self(rawValue: 65)
    /// `EX_UNAVAILABLE`: another program that is needed is missing, or has failed.
    package static let unavailable = Self(rawValue: 69)
    /// `EX_OSERR`: the kernel refused what the tool cannot do without.
    package static let systemFailure = Self(rawValue: 71)
    /// `EX_IOERR`: an output cannot be written.
    package static let outputFailure = Self(rawValue: 74)
    /// `EX_TEMPFAIL`: the time is up.
    package static let timedOut = Self(rawValue: 75)
    /// `EX_NOPERM`: the user may not do that.
    package static let notPermitted = Self(rawValue: 77)
    /// As shells say that a command cannot be executed.
    package static let notExecutable = Self(rawValue: 126)
    /// As shells say that a command was not found.
    package static let commandNotFound = Self(rawValue: 127)

    /// As shells say that a command was ended by a signal.
    package static func endedBySignal(_ number: Int32) -> Self { .init(rawValue: 128 + number) }
}

extension ExitStatus {
    /// How `status` and `explain` exit.
    package init(of status: ReachabilityStatus) {
        switch status {
        case .wifi, .cellular: self = .success
        case .notReachable: self = .notReachable
        case .unknown: self = .unknown
        }
    }
}

extension ReachabilityError {
    /// The error for the user, with its exit status.
    package var toolError: ToolError {
        let why = errno == 0 ? "" : ": \(SystemError(code: errno))"
        let what = subject.escapedForTerminal
        switch code {
        case .namespaceNotFound:
            return .init("there is no network namespace '\(what)'; \(NamespaceArgument.howTo)", exit: .usage)
        case .notANamespace:
            return .init("'\(what)' is not a network namespace; \(NamespaceArgument.howTo)", exit: .usage)
        case .namespaceNotPermitted:
            return .init("may not enter the namespace '\(what)'\(why); run netwatch as root", exit: .notPermitted)
        case .netlinkFailed:
            return .init("cannot communicate with the kernel over netlink (\(what))\(why)", exit: .systemFailure)
        case .noResources:
            return .init("the kernel refuses a resource (\(what))\(why); try again later", exit: .systemFailure)
        case .notRunning:
            return .init("the monitor has stopped", exit: .systemFailure)
        default:
            return .init("\(description)", exit: .systemFailure)
        }
    }
}

extension ToolError {
    /// Evaluates an expression that throws an error of `Reachability`, and throws the error for the user instead.
    package static func wrapping<Value>(
        _ value: @autoclosure () throws(ReachabilityError) -> Value
    ) throws(ToolError) -> Value {
        do throws(ReachabilityError) { return try value() } catch { throw error.toolError }
    }
}

extension SystemError {
    /// Returns the error for the user if something fails that normally does not.
    package func toolError(_ what: String) -> ToolError {
        .init("cannot \(what): \(self); try again later", exit: .systemFailure)
    }
}
