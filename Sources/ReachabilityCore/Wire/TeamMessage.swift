/// The options of a team interface: a reply to `TEAM_CMD_OPTIONS_GET` or an event (`include/uapi/linux/if_team.h`).
///
/// An event carries only the options that changed.
package struct TeamMessage: Sendable, Hashable {
    /// `TEAM_ATTR_TEAM_IFINDEX`.
    package var index: InterfaceIndex
    /// The option `mode`: such as `activebackup`, `roundrobin` or `loadbalance`; nil if the message does not carry it.
    package var mode: String?
    /// The option `activeport` of mode `activebackup`; 0 for no port, nil if the message does not carry it.
    package var activePort: InterfaceIndex?
    /// The option `enabled` of each port: whether the team sends through it.
    package var enabledPorts: [InterfaceIndex: Bool] = [:]

    /// Creates a message without options.
    package init(index: InterfaceIndex) { self.index = index }

    /// The `mode` of a team that sends only through its active port.
    package static let activeBackup = "activebackup"

    /// Adds the options of a later message about the same team.
    mutating func merge(_ later: Self) {
        if let mode = later.mode, mode != self.mode {
            self.mode = mode
            activePort = nil
        }
        if let port = later.activePort { activePort = port }
        enabledPorts.merge(later.enabledPorts) { $1 }
    }
}

// MARK: - Decoding

extension TeamMessage {
    /// Decodes the options, or returns nil for other commands and for messages without a team.
    init?(_ command: UInt8, _ body: WireRegion, _ bytes: RawSpan) throws(NetlinkDecodeError) {
        guard command == TEAM.getOptions else { return nil }
        self.init(index: 0)
        var cursor = body.attributes(after: GENL.headerSize)
        while let attribute = try cursor.next(bytes) {
            switch attribute.type {
            case TEAM.index: index = try attribute.integer(bytes, "TEAM_ATTR_TEAM_IFINDEX")
            case TEAM.options: try readOptions(attribute, bytes)
            default: break
            }
        }
        guard index != 0 else { return nil }
    }

    private mutating func readOptions(_ list: NetlinkAttribute, _ bytes: RawSpan) throws(NetlinkDecodeError) {
        var cursor = list.nested
        while let attribute = try cursor.next(bytes) {
            if attribute.type == TEAM.option { try readOption(attribute, bytes) }
        }
    }

    private mutating func readOption(_ option: NetlinkAttribute, _ bytes: RawSpan) throws(NetlinkDecodeError) {
        var name = ""
        var data: NetlinkAttribute?
        var port: InterfaceIndex?
        var cursor = option.nested
        while let attribute = try cursor.next(bytes) {
            switch attribute.type {
            case TEAM.Option.name: name = attribute.text(bytes)
            case TEAM.Option.data: data = attribute
            case TEAM.Option.port: port = try attribute.interfaceIndex(bytes, "TEAM_ATTR_OPTION_PORT_IFINDEX")
            case TEAM.Option.removed: return
            default: break
            }
        }
        switch (name, port) {
        case ("mode", _): mode = data?.text(bytes)
        case ("activeport", _): activePort = try data?.integer(bytes, "the option activeport")
        // A flag is set if it has data, which is empty.
        case ("enabled", let port?): enabledPorts[port] = data != nil
        default: break
        }
    }
}

// MARK: - Encoding

extension TeamMessage {
    /// Appends `struct genlmsghdr` and the options.
    func append(to builder: inout NetlinkMessageBuilder) {
        builder.append(bytes: [TEAM.getOptions, TEAM.version, 0, 0])
        builder.attribute(TEAM.index, index: index)
        builder.nested(TEAM.options) { list in
            if let mode { list.option("mode", TEAM.DataType.text) { $0.attribute(TEAM.Option.data, string: mode) } }
            if let activePort {
                list.option("activeport", TEAM.DataType.number) { $0.attribute(TEAM.Option.data, index: activePort) }
            }
            for (port, isEnabled) in enabledPorts.sorted(by: { $0.key < $1.key }) {
                list.option("enabled", TEAM.DataType.flag) { option in
                    if isEnabled { option.attribute(TEAM.Option.data) }
                    option.attribute(TEAM.Option.port, index: port)
                }
            }
        }
    }
}

extension NetlinkMessageBuilder {
    fileprivate mutating func option(_ name: String, _ type: UInt8, _ data: (inout Self) -> Void) {
        nested(TEAM.option) { option in
            option.attribute(TEAM.Option.name, string: name)
            option.attribute(TEAM.Option.type, type)
            data(&option)
        }
    }
}

// MARK: - Requests

extension NetlinkRequests {
    /// Returns a request for a team's options (`TEAM_CMD_OPTIONS_GET`), which needs `CAP_NET_ADMIN`.
    ///
    /// The reply consists of ``KernelEvent/team(_:)`` messages and `NLMSG_DONE`.
    ///
    /// - Parameters:
    ///   - index: The team.
    ///   - family: ``GenericFamilies/team``.
    ///   - sequence: `nlmsg_seq`, which the replies repeat.
    /// - Returns: The message with its header.
    package static func teamOptions(_ index: InterfaceIndex, family: UInt16, sequence: UInt32) -> [UInt8] {
        var builder = NetlinkMessageBuilder(type: family, flags: .request, sequence: sequence)
        builder.append(bytes: [TEAM.getOptions, TEAM.version, 0, 0])
        builder.attribute(TEAM.index, index: index)
        return builder.build()
    }
}

// MARK: - Numbers

/// The numbers of `include/uapi/linux/if_team.h`.
private enum TEAM {
    static let getOptions: UInt8 = 2
    static let version: UInt8 = 1
    static let index: UInt16 = 1
    static let options: UInt16 = 2
    static let option: UInt16 = 1

    /// `TEAM_ATTR_OPTION_*`.
    enum Option {
        static let name: UInt16 = 1
        static let type: UInt16 = 3
        static let data: UInt16 = 4
        static let removed: UInt16 = 5
        static let port: UInt16 = 6
    }

    /// The kernel's `NLA_*` types in `TEAM_ATTR_OPTION_TYPE`.
    enum DataType {
        static let number: UInt8 = 3
        static let text: UInt8 = 5
        static let flag: UInt8 = 6
    }
}
