import Glibc
import LinuxSystem
public import ReachabilityCore

/// Why a monitor cannot be started, or why a question has no result.
public struct ReachabilityError: Error, Sendable, Hashable {
    /// The kind of failure.
    public let code: Code
    /// The subject of the failure: a namespace's file, a host's name, a condition, a system call.
    public let subject: String
    /// The errno of the system call that failed (errno(3)); of ``Code/nameLookupFailed``, the code of gai_strerror(3);
    /// 0 if there is none.
    public let errno: Int32
    /// The timeout that expired, if one did.
    public let timeout: Duration?
    /// The path at the end of a wait for a condition, which has the reasons; nil for other errors.
    public let path: NetworkPath?

    /// Creates an error.
    init(_ code: Code, errno: Int32 = 0, _ subject: String, timeout: Duration? = nil, path: NetworkPath? = nil) {
        self.code = code
        self.errno = errno
        self.subject = subject
        self.timeout = timeout
        self.path = path
    }

    /// The kinds of failure; later versions may add codes.
    public struct Code: RawRepresentable, Sendable, Hashable {
        /// The code's name.
        public let rawValue: String

        /// Creates a code from its name.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// There is no such network namespace.
        public static let namespaceNotFound = Self(rawValue: "namespaceNotFound")
        /// The file is not that of a network namespace.
        public static let notANamespace = Self(rawValue: "notANamespace")
        /// The namespace may not be entered.
        public static let namespaceNotPermitted = Self(rawValue: "namespaceNotPermitted")
        /// A netlink socket cannot be opened, or the kernel does not reply.
        public static let netlinkFailed = Self(rawValue: "netlinkFailed")
        /// The kernel has no thread, descriptor or timer to give.
        public static let noResources = Self(rawValue: "noResources")
        /// The monitor is not running.
        public static let notRunning = Self(rawValue: "notRunning")
        /// The condition was not met before the timeout.
        public static let timedOut = Self(rawValue: "timedOut")
        /// The task was cancelled.
        public static let cancelled = Self(rawValue: "cancelled")
        /// The text is neither an address nor a host's name: it is empty, or has a character that no name has.
        public static let invalidName = Self(rawValue: "invalidName")
        /// There is no such name, or it has no address (`EAI_NONAME`, `EAI_NODATA`).
        public static let nameNotFound = Self(rawValue: "nameNotFound")
        /// No name server replies for now (`EAI_AGAIN`).
        public static let nameServerUnavailable = Self(rawValue: "nameServerUnavailable")
        /// The name's lookup took longer than the timeout.
        public static let nameLookupTimedOut = Self(rawValue: "nameLookupTimedOut")
        /// The name's lookup failed for another reason.
        public static let nameLookupFailed = Self(rawValue: "nameLookupFailed")
    }
}

extension ReachabilityError: CustomStringConvertible {
    /// The failure, its subject, its cause and a fix, in one line.
    public var description: String {
        switch code {
        case .namespaceNotFound: "there is no network namespace at \(subject) (\(reason))"
        case .notANamespace: "\(subject) is not a network namespace; ip netns list shows those with names"
        case .namespaceNotPermitted: "not permitted to enter the network namespace \(subject); this needs CAP_SYS_ADMIN"
        case .netlinkFailed: "netlink failed in \(subject): \(reason)"
        case .noResources: "\(subject) failed: \(reason)"
        case .notRunning: "the monitor is not running"
        case .timedOut:
            path == nil ? "'\(subject)' is not reachable\(limit)" : "not \(subject)\(limit): the state is \(state)"
        case .cancelled: "the task was cancelled"
        case .invalidName: "'\(subject)' is neither an address nor a host's name"
        case .nameNotFound: "there is no address for '\(subject)'; check the spelling"
        case .nameServerUnavailable:
            "no name server replies for '\(subject)'; use an address, or try again once one is reachable"
        case .nameLookupTimedOut: "no reply for '\(subject)'\(limit); use an address, or allow more time"
        default: "the lookup of '\(subject)' failed with getaddrinfo(3)'s code \(errno)"
        }
    }

    private var reason: String { "\(SystemError(code: errno)), errno \(errno)" }

    private var limit: String { timeout.map { " within \($0)" } ?? "" }

    private var state: String {
        guard let path else { return "unknown" }
        let reasons = path.reasons.map(\.rawValue).joined(separator: ", ")
        return reasons.isEmpty ? path.status.name : "\(path.status.name) (\(reasons))"
    }
}

extension ReachabilityError {
    /// The monitor is not running.
    static let notRunning = Self(.notRunning, "monitor")
    /// The task was cancelled.
    static let cancelled = Self(.cancelled, "task")
    /// A lookup has waited too long for the event thread, which a driver may keep busy.
    static let lookupTakesTooLong = Self(.netlinkFailed, errno: ETIMEDOUT, "the lookup of a path")
    /// nl80211 did not reply in time.
    static let radiosDontReply = Self(.netlinkFailed, errno: ETIMEDOUT, "nl80211")

    /// Creates an error from the failure of a system call that gives a resource.
    init(_ error: SystemError) { self.init(.noResources, errno: error.code, error.call) }

    /// Creates an error from a code of getaddrinfo(3).
    init(getaddrinfo code: Int32, host: String) {
        switch code {
        case EAI_NONAME, AddressLookup.noData: self.init(.nameNotFound, host)
        case EAI_AGAIN: self.init(.nameServerUnavailable, host)
        default: self.init(.nameLookupFailed, errno: code, host)
        }
    }
}
