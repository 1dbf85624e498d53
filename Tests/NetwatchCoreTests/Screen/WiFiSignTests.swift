import NetwatchCore
import ReachabilityCore
import Testing

@Suite struct WiFiSignTests {
    @Test func `a network is shown while its link can carry packets`() {
        var story = Story.wifi()
        #expect(title(story).contains("\"office\" -54 dBm") && row(story).contains("-54 dBm \"office\""))
        story.loseWiFi()
        #expect(!text(story).contains("office"))
        // It was read before the loss, and arrives after it.
        story.sayWiFi("office", signal: -80)
        #expect(!text(story).contains("office"))
        story.link(3, "wlan0")
        story.route(via: "192.0.2.1", on: 3, 600)
        story.publish(.carrierGained)
        #expect(!text(story).contains("office"))
        story.sayWiFi("guests", signal: -60)
        #expect(row(story).contains("-60 dBm \"guests\""))
    }

    @Test func `a network is shown even if the path uses a cable`() {
        var story = Story.wifi()
        story.link(2, "eth0")
        story.address(2, "198.51.100.20", 24)
        story.route(via: "198.51.100.1", on: 2, 100)
        story.publish(.routeAdded)
        story.sayWiFi("office", signal: -40)
        #expect(row(story).contains("-40 dBm \"office\"") && !title(story).contains("office"))
    }

    private let size = ScreenSize(columns: 160, rows: 30)

    private func lines(_ story: Story) -> [String] { story.view.frame(size).lines.map(\.text) }

    private func text(_ story: Story) -> String { lines(story).joined(separator: "\n") }

    private func title(_ story: Story) -> String { lines(story)[1] }

    private func row(_ story: Story) -> String {
        lines(story).first { $0.contains("wlan0") && $0.contains("● up") } ?? ""
    }
}
