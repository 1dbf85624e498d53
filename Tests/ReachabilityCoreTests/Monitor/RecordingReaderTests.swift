import Testing

@testable import ReachabilityCore

/// The dumps of a recording that is replayed.
@Suite struct RecordingReaderTests {
    /// Replays a dump of the links that ends after its first entry, and returns the links of the model.
    private static func links(afterDumpThatEndsWith end: KernelEvent) -> [InterfaceIndex] {
        var story = ModelStory()
        for index: InterfaceIndex in [2, 3] { story.link(index) }
        var reader = RecordingReader()
        let request = NetlinkRequest(subject: .links, isDump: true)
        for event in [.request(request), .link(ModelStory.link(2)), end] {
            let header = NetlinkHeader(length: 0, type: 0, flags: .multi, sequence: 7, port: 0)
            _ = reader.receive(event, header, at: .init(nanoseconds: 1), &story.snapshot)
        }
        return story.snapshot.links.map(\.index)
    }

    @Test func `a dump replaces its table`() {
        #expect(Self.links(afterDumpThatEndsWith: .done(errno: 0)) == [2])
    }

    @Test(arguments: [KernelEvent.done(errno: 12), .error(errno: 105)])
    func `a dump that has failed leaves its table as it is`(end: KernelEvent) {
        #expect(Self.links(afterDumpThatEndsWith: end) == [2, 3])
    }
}
