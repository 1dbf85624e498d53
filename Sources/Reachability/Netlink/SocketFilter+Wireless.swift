import ReachabilityCore

extension SocketFilter {
    /// Lets in new families, nl80211's messages that alter what is known of an interface's association, and a team's
    /// options.
    ///
    /// Nothing of an access point's stations, of frames, scans and regulation: a busy access point sends hundreds a
    /// second. Each broadcast carries one message, whose type and command (`struct genlmsghdr`) lie at fixed offsets.
    static let wireless: SocketFilter = {
        var filter = SocketFilter()
        filter.append(.loadHalf(typeOffset))
        // The end of a dump and refusals have no command.
        filter.append(.ifEqual(networkOrder(endOfDump), 0, else: 1), .accept)
        filter.append(.ifEqual(networkOrder(refusal), 0, else: 1), .accept)
        filter.append(.ifEqual(networkOrder(control), 0, else: 4))
        filter.append(.loadByte(commandOffset), .ifEqual(newFamily, 0, else: 1), .accept, .drop)
        filter.append(.loadByte(commandOffset))
        filter.append(.ifEqual(teamOptions, 0, else: 1), .accept)
        for command in heardCommands { filter.append(.ifEqual(UInt32(command.rawValue), 0, else: 1), .accept) }
        filter.append(.drop)
        return filter
    }()

    private static let heardCommands: [WirelessMessage.Command] = [
        .setInterface, .newInterface, .deleteInterface, .authenticate, .associate, .deauthenticate, .disassociate,
        .connect, .roam, .disconnect,
    ]

    /// `nlmsg_type`, and `cmd` behind the head.
    private static let typeOffset: UInt32 = 4
    private static let commandOffset: UInt32 = 16
    /// `NLMSG_DONE`, `NLMSG_ERROR`, `GENL_ID_CTRL`, `CTRL_CMD_NEWFAMILY`.
    private static let endOfDump: UInt16 = 3
    private static let refusal: UInt16 = 2
    private static let control: UInt16 = 0x10
    private static let newFamily: UInt32 = 1
    /// `TEAM_CMD_OPTIONS_GET`; of nl80211 the number is `NL80211_CMD_SET_WIPHY`, which tells of a radio's new name.
    private static let teamOptions: UInt32 = 2
}
