extension AddressMessage {
    /// Appends `struct ifaddrmsg` and the attributes.
    func append(to builder: inout NetlinkMessageBuilder) {
        builder.append(address.family.rawValue)
        builder.append(prefixLength)
        builder.append(UInt8(truncatingIfNeeded: flags.rawValue))
        builder.append(scope.rawValue)
        builder.append(index)
        builder.attribute(IFA.address, peer ?? address)
        builder.attribute(IFA.local, address)
        builder.attribute(IFA.flags, flags.rawValue)
        guard preferredLifetime != nil || validLifetime != nil else { return }
        builder.nested(IFA.cacheinfo, flagged: false) { cache in
            cache.append(preferredLifetime ?? .max)
            cache.append(validLifetime ?? .max)
            cache.append(UInt64(0))
        }
    }
}
