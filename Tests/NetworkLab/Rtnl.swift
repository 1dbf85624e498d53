import Glibc
import Locking
import ReachabilityCore

/// An rtnetlink(7) socket that waits for the kernel's acknowledgement of each request.
///
/// It uses neither libnl nor the project's own sockets and encoder, so that a fault in those can't hide itself. The
/// files named after this one hold what can be asked for, by concept. It may be used from any thread; requests wait for
/// one another.
package final class Rtnl: Sendable {
    private let socket: RtnlSocket
    private let sequence = Lock<UInt32>(0)

    /// Opens a socket in the calling thread's network namespace.
    package init() throws(LabError) {
        socket = try RtnlSocket()
    }

    /// Sends a request and waits for its acknowledgement.
    ///
    /// - Throws: The errno of the kernel's refusal, and its message.
    package func perform(_ request: RtnlRequest) throws(LabError) {
        try perform([request])
    }

    /// Sends many requests in as few system calls as hold them, and waits for the acknowledgement of all.
    ///
    /// - Throws: The kernel's first refusal. The requests behind it have been carried out, or refused, too.
    package func perform(_ requests: [RtnlRequest]) throws(LabError) {
        try sequence.withLock { (sequence: inout UInt32) throws(LabError) in
            var rest = requests[...]
            var failure: LabError?
            while !rest.isEmpty {
                let chunk = Self.chunk(of: rest)
                rest = rest.dropFirst(chunk.count)
                do throws(LabError) { try self.exchange(chunk, &sequence) } catch { failure = failure ?? error }
            }
            if let failure { throw failure }
        }
    }

    /// Sends a request that has one reply, and returns that message.
    package func ask(_ request: RtnlRequest) throws(LabError) -> RtnlMessage {
        let messages = try replies(to: request)
        guard let message = messages.first else { throw LabError(request.description, errno: ENODATA) }
        return message
    }

    /// Sends a request for a dump, and returns its messages.
    ///
    /// - Throws: `EINTR` too: a dump that the kernel calls inconsistent (`NLM_F_DUMP_INTR`).
    package func dump(_ request: RtnlRequest) throws(LabError) -> [RtnlMessage] {
        var request = request
        request.flags.formUnion(.dump)
        let messages = try replies(to: request)
        guard !messages.contains(where: { $0.flags.contains(.dumpInterrupted) }) else {
            throw LabError(request.description, errno: EINTR, detail: "something changed during the dump")
        }
        return messages
    }

    private func replies(to request: RtnlRequest) throws(LabError) -> [RtnlMessage] {
        try sequence.withLock { (sequence: inout UInt32) throws(LabError) in
            try self.exchange([request], &sequence)
        }
    }

    /// Sends requests in one datagram and reads up to the last one's acknowledgement or end of dump.
    @discardableResult
    private func exchange(
        _ requests: ArraySlice<RtnlRequest>,
        _ sequence: inout UInt32
    ) throws(LabError) -> [RtnlMessage] {
        let first = sequence &+ 1
        try socket.send(Self.datagram(requests, &sequence))
        var replies: [RtnlMessage] = []
        var failure: LabError?
        while true {
            for message in try socket.receive() where message.sequence &- first < UInt32(requests.count) {
                let position = requests.startIndex + Int(message.sequence &- first)
                guard let code = message.errno else {
                    replies.append(message)
                    continue
                }
                if code != 0, failure == nil {
                    let description = requests[position].description
                    failure = LabError(description, errno: code, detail: message.errorText)
                }
                guard message.sequence == sequence else { continue }
                if let failure { throw failure }
                return replies
            }
        }
    }

    /// Only the last request asks for an acknowledgement; a refusal comes for any.
    private static func datagram(_ requests: ArraySlice<RtnlRequest>, _ sequence: inout UInt32) -> [UInt8] {
        var bytes: [UInt8] = []
        for (position, request) in zip(requests.indices, requests) {
            sequence &+= 1
            let isLast = position == requests.endIndex - 1 && !request.flags.isSuperset(of: .dump)
            let flags = request.flags.union(isLast ? [.request, .acknowledge] : .request)
            var builder = NetlinkMessageBuilder(type: request.type, flags: flags, sequence: sequence)
            builder.append(bytes: request.payload)
            builder.align()
            bytes += builder.build()
        }
        return bytes
    }

    /// As many requests as one datagram may hold without regard to the kernel's limits for its size.
    private static func chunk(of requests: ArraySlice<RtnlRequest>) -> ArraySlice<RtnlRequest> {
        var size = 0
        let end = requests.firstIndex { request in
            size += NetlinkHeader.size + request.payload.count + 3
            return size > 32_768
        }
        let start = requests.startIndex
        return requests[start..<max(end ?? requests.endIndex, start + 1)]
    }
}
