package import ReachabilityCore

extension AddressFlags {
    /// `IFA_F_HOMEADDRESS`.
    package static let homeAddress = Self(rawValue: 0x10)
    /// `IFA_F_MANAGETEMPADDR`.
    package static let managesTemporary = Self(rawValue: 0x100)
    /// `IFA_F_NOPREFIXROUTE`: no route to the prefix comes with the address.
    package static let noPrefixRoute = Self(rawValue: 0x200)
}

// MARK: - Addresses

extension Rtnl {
    /// Adds an address, written `192.0.2.2/24`.
    ///
    /// IPv6 addresses skip duplicate address detection unless other flags are given, so that tests need not wait.
    package func addAddress(
        _ prefix: String,
        on interface: String,
        flags: AddressFlags = .noDuplicateDetection,
        preferred: UInt32? = nil,
        valid: UInt32? = nil
    ) throws(LabError) {
        var message = try address(prefix, on: interface, flags: flags)
        message.preferredLifetime = preferred
        message.validLifetime = valid
        try addAddress(message)
    }

    /// Removes an address, written `192.0.2.2/24`.
    package func deleteAddress(_ prefix: String, on interface: String) throws(LabError) {
        try deleteAddress(address(prefix, on: interface))
    }

    /// Adds an address; a preferred lifetime of 0 makes it deprecated.
    package func addAddress(_ address: AddressMessage) throws(LabError) {
        try perform(.address(address, type: RTM.newAddr, flags: [.create, .exclusive], "add"))
    }

    /// Changes an address's flags or lifetimes, or adds it.
    package func replaceAddress(_ address: AddressMessage) throws(LabError) {
        try perform(.address(address, type: RTM.newAddr, flags: [.create, .replace], "replace"))
    }

    /// Removes an address.
    package func deleteAddress(_ address: AddressMessage) throws(LabError) {
        try perform(.address(address, type: RTM.delAddr, flags: [], "delete"))
    }

    private func address(
        _ text: String,
        on interface: String,
        flags: AddressFlags = []
    ) throws(LabError) -> AddressMessage {
        let prefix = try IPPrefix(labText: text)
        let index = try index(of: interface)
        return .init(index: index, address: prefix.address, prefixLength: prefix.length, flags: flags)
    }
}

extension RtnlRequest {
    /// `RTM_NEWADDR` or `RTM_DELADDR`.
    fileprivate static func address(
        _ message: AddressMessage,
        type: UInt16,
        flags: NetlinkFlags,
        _ verb: String
    ) -> Self {
        let place = "on interface \(message.index)"
        let description = "\(verb) address \(message.address)/\(message.prefixLength) \(place)"
        return RtnlRequest(description, type: type, flags: flags) { builder in
            builder.append(message.address.family.rawValue)
            builder.append(message.prefixLength)
            builder.append(UInt8(truncatingIfNeeded: message.flags.rawValue))
            builder.append(message.scope.rawValue)
            builder.append(message.index)
            builder.attribute(IFA.local, message.address)
            builder.attribute(IFA.address, message.peer ?? message.address)
            builder.attribute(IFA.flags, message.flags.rawValue)
            builder.lifetimes(of: message)
        }
    }
}

extension NetlinkMessageBuilder {
    /// Appends `struct ifa_cacheinfo`, if there is something to say.
    fileprivate mutating func lifetimes(of message: AddressMessage) {
        guard message.preferredLifetime != nil || message.validLifetime != nil else { return }
        var payload = NetlinkMessageBuilder(type: 0)
        payload.append(message.preferredLifetime ?? message.validLifetime ?? .max)
        payload.append(message.validLifetime ?? .max)
        payload.append(UInt64(0))
        attribute(IFA.cacheinfo, bytes: payload.build().dropFirst(NetlinkHeader.size))
    }
}

extension IPPrefix {
    /// Reads `192.0.2.0/24`, `default` of a family that is named by the other arguments, or a lone address.
    init(labText text: String, family: AddressFamily = .ipv4) throws(LabError) {
        if text == "default" {
            self = .all(family)
            return
        }
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        guard let first = parts.first, let address = IPAddress(String(first)),
            let length = parts.count == 1 ? UInt8(address.family.bitWidth) : UInt8(parts[1]),
            parts.count <= 2, length <= address.family.bitWidth
        else { throw LabError("read the prefix '\(text)'", errno: 22) }
        self.init(address, length: length)
    }
}
