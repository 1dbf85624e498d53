import CommandLineSupport
import EventService
import Glibc
import LinuxSystem
import NetwatchCore
import ReachabilityCore

/// The changes that the event service has stored, for the live view.
struct ServicePast {
    /// The path of the service's socket.
    private let socket = NetwatchEvents.usualSocket

    /// The period.
    private static let age = "24h"
    /// The number of changes that are kept one by one.
    private static let capacity = 10_000
    /// A gap between two runs of the service that counts as a restart, in which the state lasted.
    private static let bridge = Duration.seconds(60)

    /// Reads them on a thread of its own; without a service that keeps a journal, nothing happens.
    ///
    /// - Parameter inbox: Receives the changes.
    func read(into inbox: LiveInbox) {
        guard access(socket, F_OK) == 0 else { return }
        try? SystemThread.detach("netwatch-past") {
            if let changes = try? changes() { inbox.put(.earlier(changes)) }
        }
    }

    private func changes() throws(SystemError) -> EarlierChanges? {
        var connection = try EventSocket(path: socket)
        try connection.send("/v1/history?since=\(Self.age)", ["Accept: application/x-ndjson"])
        guard try connection.status(within: EventSocket.timeout) == 200 else { return nil }
        var entries: [EarlierChanges.Entry] = []
        var history: History?
        var number = 0
        while let line = try connection.line(EventSocket.timeout, nil) {
            number += 1
            guard let record = try? HistoryLineReader().record(in: line[...], number) else { continue }
            if history == nil { history = .init(record, bridge: Self.bridge) } else { history?.take(record) }
            if let entry = Self.entry(line, at: record.time) { entries.append(entry) }
            if entries.count >= 2 * Self.capacity { entries.removeFirst(Self.capacity) }
        }
        return history.map { .init(entries, timeline: $0.timeline) }
    }

    /// Returns the change in a line; nil for a change of the verdict alone, which changes nothing that is shown of the past.
    private static func entry(_ line: [UInt8], at time: Timestamp) -> EarlierChanges.Entry? {
        guard let members = (try? JSONText(line[...]))?.members, members["event"]?.string != "validation",
            let change = ReachabilityChange(members: members)
        else { return nil }
        return .init(change, time: time, utcOffset: SystemClock.utcOffset(at: time))
    }
}
