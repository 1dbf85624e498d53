import CNetlink
import Glibc
import LinuxSystem
package import ReachabilityCore

/// Receives what routers announce, and which neighbours do not answer, on a thread of its own.
///
/// It has a socket of its own, in the groups `RTNLGRP_ND_USEROPT` and `RTNLGRP_NEIGH`: a monitor does without both, because the
/// second brings many messages on a busy link.
package final class RouterEvents: Sendable {
    /// A message of the kernel.
    package enum Event: Sendable, Hashable {
        /// A router advertisement had options.
        case options(RouterOptionMessage)
        /// A neighbour does not answer (`NUD_FAILED`).
        case neighbourFailed(IPAddress, InterfaceIndex)
    }

    private let wakeup: Wakeup
    private let thread = SystemThread()

    /// Opens the socket in the calling thread's network namespace, and starts to receive.
    ///
    /// - Parameter handler: Called with each event, on the thread; must not block.
    /// - Throws: ``ReachabilityError`` if the socket cannot be opened, or the thread not be started.
    package init(_ handler: @escaping @Sendable (Event) -> Void) throws(ReachabilityError) {
        let socket: NetlinkSocket
        do throws(NetlinkError) { socket = try Self.open() } catch { throw .init(error) }
        do throws(SystemError) {
            let wakeup = try Wakeup()
            let receiver = Receiver(socket, wakeup, handler)
            // The deinitializer waits for the thread: it must not run before there is one.
            try thread.start("netwatch-router") { receiver.run() }
            self.wakeup = wakeup
        } catch {
            throw .init(error)
        }
    }

    deinit {
        wakeup.signal()
        thread.waitForEnd()
    }

    private static func open() throws(NetlinkError) -> NetlinkSocket {
        let socket = try NetlinkSocket.open(NETLINK_ROUTE, in: .current)
        socket.setReceiveBuffer(1 << 20)
        for group in [RTNLGRP_ND_USEROPT, RTNLGRP_NEIGH] { try socket.join(Int32(group.rawValue)) }
        return socket
    }
}

/// The loop of the thread.
///
/// `@unchecked Sendable`: after it was created, only the thread uses it.
private final class Receiver: @unchecked Sendable {
    private let socket: NetlinkSocket
    private let wakeup: Wakeup
    private let handler: @Sendable (RouterEvents.Event) -> Void
    private let buffer = ReceiveBuffer()

    init(_ socket: NetlinkSocket, _ wakeup: Wakeup, _ handler: @escaping @Sendable (RouterEvents.Event) -> Void) {
        self.socket = socket
        self.wakeup = wakeup
        self.handler = handler
    }

    /// Receives until the wakeup is signalled, or the socket fails.
    func run() {
        var entries = [socket.descriptor, wakeup.descriptor].map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
        while true {
            let count = poll(&entries, nfds_t(entries.count), -1)
            guard count > 0 || errno == EINTR, entries[1].revents == 0, receiveAll() else { return }
        }
    }

    /// Receives what is there; returns whether the socket is usable.
    ///
    /// Lost messages are not repeated by the kernel: routers repeat theirs, and neighbours fail again.
    private func receiveAll() -> Bool {
        while true {
            switch socket.receive(into: buffer) {
            case .datagram(let length): buffer.withDatagram(length) { decode($0) }
            case .truncated(let length): buffer.grow(to: length)
            case .overrun, .foreign: continue
            case .empty: return true
            case .failed(let errno): return errno == EINTR
            }
        }
    }

    private func decode(_ bytes: RawSpan) {
        try? NetlinkDecoder().decode(bytes) { [handler] _, event in
            switch event {
            case .routerOption(let message): handler(.options(message))
            case .neighbour(let message) where message.state.contains(.failed):
                handler(.neighbourFailed(message.address, message.index))
            default: break
            }
        }
    }
}
