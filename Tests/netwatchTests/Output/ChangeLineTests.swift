import CommandLineSupport
import Testing

@testable import netwatch

@Suite struct ChangeLineTests {
    @Test(arguments: [ChangeFormat.text, .json, .detailedJSON])
    func `a line has no remains of the previous one`(format: ChangeFormat) {
        var line = ChangeLine(format)
        for change in [Samples.first, Samples.lost, Samples.resync, .unread, Samples.wifiChange] {
            line.set(change, at: Samples.time)
            #expect(line.bytes == format.line(change, at: Samples.time))
        }
    }
}
