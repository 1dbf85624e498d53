import ReachabilityCore
import Testing

struct UeventDecodingTests {
    /// As Linux 6.1 broadcast it when a modem was plugged in.
    private static let modem = [
        "add@/devices/platform/dummy_hcd.0/usb1/1-1/1-1:1.0/net/wwan0", "ACTION=add",
        "DEVPATH=/devices/platform/dummy_hcd.0/usb1/1-1/1-1:1.0/net/wwan0", "SUBSYSTEM=net", "DEVTYPE=wwan",
        "INTERFACE=wwan0", "IFINDEX=7", "SEQNUM=1234",
    ]

    @Test func `a modem's uevent is decoded`() throws {
        #expect(
            try decode(Self.modem) == .uevent(.init(action: .add, interface: "wwan0", index: 7, deviceType: "wwan"))
        )
    }

    @Test func `the last field needs no NUL`() throws {
        let bytes = Array(Self.modem.dropLast().joined(separator: "\0").utf8)
        #expect(
            try decode(bytes: bytes) == .uevent(.init(action: .add, interface: "wwan0", index: 7, deviceType: "wwan"))
        )
    }

    @Test(arguments: [
        ["libudev", "add@/x", "ACTION=add", "SUBSYSTEM=net", "INTERFACE=lo", "IFINDEX=1"],
        ["add@/x", "ACTION=add", "SUBSYSTEM=queues", "INTERFACE=lo", "IFINDEX=1"],
        ["add@/x", "ACTION=add", "SUBSYSTEM=net", "IFINDEX=1"],
        ["explode@/x", "SUBSYSTEM=net", "INTERFACE=lo", "IFINDEX=1"],
        ["add@/x"],
    ])
    func `other uevents are ignored`(fields: [String]) throws {
        #expect(try decode(fields) == .ignored)
    }

    @Test(arguments: [
        ([""], 0), (["add"], 0), (["add@/x", "SUBSYSTEM=net", "INTERFACE=lo", "IFINDEX=one"], 34),
        (["add@/x", "IFINDEX=99999999999"], 7),
    ])
    func `malformed uevents are refused`(fields: [String], offset: Int) {
        let error = #expect(throws: NetlinkDecodeError.self) { try decode(fields) }
        #expect(error?.offset == offset)
    }

    private func decode(_ fields: [String]) throws -> KernelEvent? {
        try decode(bytes: fields.flatMap { Array($0.utf8) + [0] })
    }

    private func decode(bytes: [UInt8]) throws -> KernelEvent? {
        let found = try decoded(bytes, of: NetlinkDecoder.uevent)
        #expect(found.map(\.header.length) == [UInt32(bytes.count)])
        return found.first?.event
    }
}
