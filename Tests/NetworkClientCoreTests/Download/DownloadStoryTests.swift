import Testing

struct DownloadStoryTests {
    @Test func `a complete file is exactly one version, whatever servers do`() {
        var counts: [String: Int] = [:]
        var finished = 0
        for seed in 0..<5_000 as Range<UInt64> {
            var story = DownloadStory(seed: seed)
            let isOneVersion = story.run()
            #expect(isOneVersion != false, "seed \(seed)")
            if isOneVersion == true { finished += 1 }
            counts.merge(story.counts) { $0 + $1 }
        }
        #expect(finished > 4_900, "\(finished)")
        for name in ["restart", "append", "restarted", "complete", "again", "lie"] {
            #expect(counts[name, default: 0] > 100, "\(name): \(counts)")
        }
    }
}
