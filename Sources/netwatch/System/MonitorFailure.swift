import NetwatchCore
import Reachability

extension ReachabilityError {
    /// What to tell the user, and with which code to exit.
    var toolError: ToolError {
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
            return .init("can't talk to the kernel over netlink (\(what))\(why)", exit: .systemFailure)
        case .noResources:
            return .init("the kernel refuses a resource (\(what))\(why); try again later", exit: .systemFailure)
        case .notRunning:
            return .init("the monitor has stopped", exit: .systemFailure)
        default:
            return .init("\(description)", exit: .systemFailure)
        }
    }
}

extension SystemError {
    /// What to tell the user where something fails that normally can't.
    func toolError(_ what: String) -> ToolError {
        .init("can't \(what): \(self); try again later", exit: .systemFailure)
    }
}
