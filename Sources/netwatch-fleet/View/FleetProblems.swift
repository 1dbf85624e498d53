import CommandLineSupport
import FleetCore
import NetwatchCore

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
        if let problem = viewer.connection.problem ?? viewer.connectionProblem {
            if problem != connection { StandardError.note("cannot follow '\(broker)': \(problem)") }
            connection = problem
        }
        if connection != nil, case .following = viewer.connection {
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
