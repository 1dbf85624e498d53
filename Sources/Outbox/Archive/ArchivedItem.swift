import Crypto
import FoundationEssentials
import Glibc
import HTTPTypes
import OutboxCore

/// An item as an archive holds it, in front of its body.
package struct ArchivedItem: Sendable, Hashable, Codable {
    /// The identity, by which an item is recognized that is imported again.
    package var origin: String
    /// The number in the outbox that wrote the archive; nil in one of an earlier version.
    package var number: Int64?
    /// The name of the lane.
    package var lane: String
    /// The lane's destination.
    package var destination: String
    /// The lane's rules, for an outbox that does not have the lane.
    package var rules: String
    /// The names of those of the rules that also replace the ones of a lane that is there, as in ``LaneRule``.
    package var changedRules: [String]?
    package var method: String
    package var reference: String
    package var fields: [String: String]
    package var contentType: String?
    package var key: String?
    /// The digest of the request in the outbox that wrote the archive.
    package var digest: [UInt8]?
    package var credential: String?
    package var userInfo: [String: String] = [:]
    /// Whether the user holds it back.
    package var isHeld = false
    /// The time at which it was added, in nanoseconds since 1970.
    package var added: Int64
    /// The time before which it is not sent, in nanoseconds since 1970.
    package var notBefore: Int64?
    /// The time that is left until it expires, in nanoseconds; nil for never.
    package var lifetime: Int64?
    /// The time since the first attempt that may have been processed, in nanoseconds; nil without one.
    package var sinceFirstAttempt: Int64?
    /// The number of attempts that failures of the item itself have cost.
    package var attempts = 0
    /// The time at which it was written, in nanoseconds since 1970.
    package var written: Int64
    /// Whether the clock was synchronized then.
    package var hasSynchronizedClock: Bool
    /// The size of its body in bytes.
    package var size: Int64
}

extension ArchivedItem {
    /// Creates the form of a stored item.
    init(_ item: StoredItem, in lane: StoredLane, origin: String?, at reading: ClockReading, _ now: BoxTime) {
        self.init(
            origin: origin ?? item.origin(in: lane.name),
            number: item.id,
            lane: lane.name,
            destination: lane.destination,
            rules: LaneText.text(lane.options),
            method: item.method,
            reference: item.reference,
            fields: item.fields,
            contentType: item.contentType,
            key: item.key,
            digest: item.digest,
            credential: item.credential,
            userInfo: item.userInfo,
            isHeld: item.state == .held,
            added: item.addedWall,
            notBefore: item.notBefore,
            lifetime: item.record.expires.map { now.duration(to: $0).wholeNanoseconds },
            sinceFirstAttempt: item.record.firstSent.map { $0.duration(to: now).wholeNanoseconds },
            attempts: item.record.attempts,
            written: reading.wall,
            hasSynchronizedClock: reading.isSynchronized,
            size: item.size
        )
    }

    /// Returns the item as it is stored in another outbox.
    ///
    /// Its expiry starts with the time that was left. Its key is not used longer than it would have been: the time in
    /// the archive counts, where both clocks are synchronized.
    func stored(
        lane: Int64,
        _ body: StoredItem.Body,
        at reading: ClockReading,
        _ now: BoxTime
    ) -> StoredItem {
        var item = StoredItem(
            lane: lane,
            method: method,
            reference: reference,
            fields: fields,
            contentType: contentType,
            key: key,
            digest: [],
            body: body,
            size: size,
            credential: credential,
            userInfo: userInfo
        )
        let isTimed = hasSynchronizedClock && reading.isSynchronized && reading.wall > written
        let elapsed = isTimed ? Duration.nanoseconds(reading.wall) - .nanoseconds(written) : .zero
        item.state = isHeld ? .held : .waiting
        item.added = now
        item.addedWall = added
        item.notBefore = notBefore.map { max($0, 0) }
        item.lifetime = lifetime.map { .nanoseconds(max($0, 0)) }
        item.record.expires = item.lifetime.map { now.advanced(by: $0) }
        item.digest = item.completeDigest()
        item.record.firstSent = sinceFirstAttempt.map {
            now.advanced(by: .zero - .nanoseconds(max($0, 0)) - elapsed)
        }
        item.record.attempts = min(max(attempts, 0), 1_000)
        return item
    }

    /// Throws if the item can't be sent, or if its values could change the request around it.
    ///
    /// - Parameters:
    ///   - options: The rules of its lane.
    ///   - isForeign: Whether it belongs to a user who may not use the credentials of this outbox.
    /// - Throws: ``OutboxError``.
    func check(_ options: LaneOptions, isForeign: Bool) throws(OutboxError) {
        var headers = HTTPFields()
        for (name, value) in fields {
            guard let name = HTTPField.Name(name), HTTPField.isValidValue(value) else {
                throw .init(.invalidRequest, reason: "the field '\(name)' is invalid: leave out control characters")
            }
            headers[name] = value
        }
        guard HTTPField.isValidValue(contentType ?? "") else {
            throw .init(.invalidRequest, reason: "the media type has a control character")
        }
        guard let method = HTTPRequest.Method(rawValue: method) else {
            throw .init(.invalidRequest, reason: "'\(self.method)' is no method")
        }
        if isForeign, credential != nil {
            throw .init(.secretRefused, reason: "credentials are for the owner of the outbox: leave the name out")
        }
        let own = ItemOptions(key: key.map { .custom($0) } ?? .none, headers: headers)
        try ItemCheck(lane, destination, options, method: method, reference: reference, own).run()
    }
}

extension StoredItem {
    /// The identity of an item without a recorded one: of its number, times and contents.
    fileprivate func origin(in lane: String) -> String {
        let digest = self.digest.map { String($0, radix: 16) }.joined()
        let parts = ["\(id)", "\(addedWall)", "\(added.nanoseconds)", lane, key ?? "", digest]
        return SHA256.hash(data: Array(parts.joined(separator: "\n").utf8)).hexadecimal
    }
}
