extension WirelessMessage {
    /// Reads a message of nl80211; nil if it is about something else than an interface's state.
    init?(_ command: UInt8, _ body: WireRegion, _ bytes: RawSpan) throws(NetlinkDecodeError) {
        nil
    }
}
