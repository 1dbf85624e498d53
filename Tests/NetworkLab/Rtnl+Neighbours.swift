package import ReachabilityCore

// MARK: - Neighbours (ip-neighbour(8))

extension Rtnl {
    /// Gives a neighbour entry a state, making the entry if there is none.
    ///
    /// `hardwareAddress` is not needed for ``NeighbourState/failed`` and ``NeighbourState/incomplete``.
    package func setNeighbour(
        _ address: String,
        on interface: String,
        state: NeighbourState,
        hardwareAddress: [UInt8]? = [2, 0, 0, 0, 0, 1]
    ) throws(LabError) {
        let neighbour = NeighbourMessage(
            index: try index(of: interface),
            address: try IPPrefix(labText: address).address,
            state: state
        )
        try setNeighbour(neighbour, hardwareAddress: hardwareAddress)
    }

    /// Gives a neighbour entry a state, making the entry if there is none.
    package func setNeighbour(_ neighbour: NeighbourMessage, hardwareAddress: [UInt8]?) throws(LabError) {
        let isValid = !neighbour.state.isDisjoint(with: .valid)
        let address = isValid ? hardwareAddress : nil
        try perform(.neighbour(neighbour, type: RTM.newNeigh, flags: [.create, .replace], address, "set"))
    }

    /// Removes a neighbour entry.
    package func deleteNeighbour(_ address: String, on interface: String) throws(LabError) {
        let neighbour = NeighbourMessage(
            index: try index(of: interface),
            address: try IPPrefix(labText: address).address,
            state: []
        )
        try perform(.neighbour(neighbour, type: RTM.delNeigh, flags: [], nil, "delete"))
    }
}

extension RtnlRequest {
    /// `RTM_NEWNEIGH` or `RTM_DELNEIGH`.
    fileprivate static func neighbour(
        _ message: NeighbourMessage,
        type: UInt16,
        flags: NetlinkFlags,
        _ hardwareAddress: [UInt8]?,
        _ verb: String
    ) -> Self {
        RtnlRequest("\(verb) neighbour \(message.address)", type: type, flags: flags) { builder in
            builder.append(message.address.family.rawValue)
            builder.append(bytes: [0, 0, 0])
            builder.append(message.index)
            builder.append(message.state.rawValue)
            builder.append(bytes: [0, 0])
            builder.attribute(NDA.dst, message.address)
            if let hardwareAddress { builder.attribute(NDA.lladdr, bytes: hardwareAddress) }
        }
    }
}
