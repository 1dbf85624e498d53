import CommandLineSupport
import FleetCore
import NetwatchCore

extension FleetFeed.Connection {
    /// Why nothing is received; nil while the connection is made or stands.
    var problem: String? {
        switch self {
        case .connecting, .following: nil
        case .refused(let reason): reason
        case .lost(let reason, _): reason
        }
    }

    /// What the screen says while nothing is received.
    var notice: String? {
        switch self {
        case .following: nil
        case .connecting: "connecting"
        case .refused(let reason): reason
        case .lost(let reason, let retry):
            retry.map { "\(reason); next attempt within \($0.components.seconds + 1) s" } ?? reason
        }
    }
}

extension FleetViewer {
    /// The first problem that the user should know of; nil if there is none.
    var notice: String? { (connection.notice ?? storeFailure).map(\.escapedForTerminal) }

    /// Whether the link and the state of all machines of the inventory are known; false without an inventory.
    var isInventoryKnown: Bool {
        guard let entries = configuration.inventory?.entries, !entries.isEmpty else { return false }
        return entries.allSatisfy { entry in
            model.status(of: entry.key).map { $0.presence != .unknown && $0.newest != nil } ?? false
        }
    }
}

/// Prints problems on stderr: each once, and that the connection is made again.
struct FleetProblems {
    /// The broker's name.
    let broker: String
    private var connection: String?
    private var store: String?
    private var unreadable: String?

    init(broker: String) { self.broker = broker }

    /// Prints what is new.
    mutating func note(_ viewer: FleetViewer) {
        if let problem = viewer.connection.problem {
            if problem != connection { StandardError.note("cannot follow '\(broker)': \(problem)") }
            connection = problem
        } else if connection != nil, case .following = viewer.connection {
            StandardError.note("following '\(broker)' again")
            connection = nil
        }
        if let failure = viewer.storeFailure, failure != store { StandardError.note(failure) }
        store = viewer.storeFailure
        if unreadable == nil, let error = viewer.unreadable.last {
            StandardError.note("\(error); further such messages are left out")
            unreadable = error
        }
    }
}
