extension WireGuardMessage {
    /// Appends `struct genlmsghdr` and the attributes: no keys, which a recording must not hold.
    func append(to builder: inout NetlinkMessageBuilder) {
        builder.append(bytes: [WG.getDevice, WG.version, 0, 0])
        builder.attribute(WG.Device.index, index: index)
        builder.attribute(WG.Device.mark, mark)
        builder.nested(WG.Device.peers) { list in
            for peer in peers { list.nested(0) { peer.append(to: &$0) } }
        }
    }
}

extension WireGuardMessage.Peer {
    fileprivate func append(to builder: inout NetlinkMessageBuilder) {
        if let endpoint {
            builder.nested(WG.Peer.endpoint, flagged: false) { inner in
                inner.append(UInt16(endpoint.family.rawValue))
                inner.append(bytes: [UInt8(truncatingIfNeeded: port >> 8), UInt8(truncatingIfNeeded: port)])
                // Before an IPv6 address comes its flow, behind it its scope; `struct sockaddr_in` ends with padding.
                if endpoint.family == .ipv6 { inner.append(UInt32(0)) }
                inner.append(endpoint)
                inner.append(bytes: repeatElement(0, count: endpoint.family == .ipv6 ? 4 : 8))
            }
        }
        builder.nested(WG.Peer.allowed) { list in
            for prefix in allowed {
                list.nested(0) { entry in
                    entry.attribute(WG.Allowed.family, UInt16(prefix.address.family.rawValue))
                    entry.attribute(WG.Allowed.address, prefix.address)
                    entry.attribute(WG.Allowed.length, prefix.length)
                }
            }
        }
    }
}
