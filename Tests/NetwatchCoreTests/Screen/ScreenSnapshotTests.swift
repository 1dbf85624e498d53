import NetwatchCore
import Testing

@Suite(.timeLimit(.minutes(5))) struct ScreenSnapshotTests {
    @Test(arguments: keptSizes) func `on WiFi`(size: ScreenSize) throws {
        try expectScreen(Story.wifi().view, size, "wifi")
    }

    @Test(arguments: keptSizes) func `in ASCII`(size: ScreenSize) throws {
        try expectScreen(Story.wifi(ssid: "Büro", isASCII: true).view, size, "ascii")
    }

    @Test(arguments: keptSizes) func `on a modem, after an outage`(size: ScreenSize) throws {
        try expectScreen(Story.cellular().view, size, "cellular")
    }

    @Test(arguments: keptSizes) func `not reachable, with the reason and the fix`(size: ScreenSize) throws {
        try expectScreen(Story.notReachable().view, size, "not-reachable")
    }

    @Test(arguments: keptSizes) func `a tunnel over WiFi`(size: ScreenSize) throws {
        try expectScreen(Story.tunnel().view, size, "tunnel")
    }

    @Test(arguments: keptSizes) func `nothing was read yet`(size: ScreenSize) throws {
        try expectScreen(Story().view, size, "reading")
    }

    @Test(arguments: keptSizes) func `many interfaces`(size: ScreenSize) throws {
        var story = Story.manyInterfaces()
        try expectScreen(story.view, size, "many-interfaces")
        story.press(.tab, .down, .down, .pageDown)
        try expectScreen(story.view, size, "many-interfaces-scrolled")
    }

    @Test(arguments: keptSizes) func `strange names`(size: ScreenSize) throws {
        try expectScreen(Story.strangeNames().view, size, "strange-names")
    }

    @Test(arguments: keptSizes) func `hosts`(size: ScreenSize) throws {
        try expectScreen(Story.destinations().view, size, "hosts")
    }

    @Test(arguments: keptSizes) func `twenty outages, scrolled back`(size: ScreenSize) throws {
        var story = Story.restless()
        try expectScreen(story.view, size, "restless")
        story.input(.resize(size))
        story.press(.pageDown, .down, .down)
        try expectScreen(story.view, size, "restless-scrolled")
    }

    @Test(arguments: keptSizes) func `a filter being typed, then kept`(size: ScreenSize) throws {
        var story = Story.restless()
        story.type("/carrier.l not")
        try expectScreen(story.view, size, "filter-typed")
        story.press(.enter)
        try expectScreen(story.view, size, "filter-kept")
    }

    @Test(arguments: keptSizes) func `paused, while more comes`(size: ScreenSize) throws {
        var story = Story.wifi()
        story.type(" ")
        story.wait(.seconds(3))
        story.loseWiFi()
        try expectScreen(story.view, size, "paused")
    }

    @Test(arguments: keptSizes) func `details of an event`(size: ScreenSize) throws {
        var story = Story.notReachable()
        story.press(.down, .enter)
        try expectScreen(story.view, size, "details")
    }

    @Test(arguments: keptSizes) func `help`(size: ScreenSize) throws {
        var story = Story.wifi()
        story.type("?")
        try expectScreen(story.view, size, "help")
    }

    @Test(arguments: keptSizes) func `an explanation`(size: ScreenSize) throws {
        var story = Story.wifi()
        story.type("e")
        story.input(.explanation(Self.explanation))
        try expectScreen(story.view, size, "explanation")
    }

    @Test(arguments: keptSizes) func `recording, and its end`(size: ScreenSize) throws {
        var story = Story.wifi()
        story.input(.recording(.on(path: "/tmp/netwatch-1.pcap", bytes: 12_345), at: story.moment))
        try expectScreen(story.view, size, "recording")
        story.input(.recording(.saved(path: "/tmp/netwatch-1.pcap", bytes: 12_345), at: story.moment))
        try expectScreen(story.view, size, "recorded")
    }

    private static let explanation = [
        "wifi: wlan0 (wifi), ipv4 192.0.2.2 via 192.0.2.1 metric 600", "ipv4: usable, wifi",
        "  to 1.1.1.1: via 192.0.2.1 dev wlan0 source 192.0.2.2 table main metric 600",
        "  rules:", "    0: from all lookup local: no route of it matches, so the walk goes on to the next rule",
        "    32766: from all lookup main: its route is taken",
        "      default via 192.0.2.1 dev wlan0 metric 600: chosen", "ipv6: not usable",
    ]
}
