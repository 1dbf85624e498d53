import Testing

@testable import ReachabilityCore

@Suite("Addresses")
struct AddressApplicationTests {
    @Test("A refreshed lifetime is kept, but is no change (tailscale#4237, #4327)")
    func refreshed() {
        for family in AddressFamily.allCases {
            var story = ModelStory()
            var address = ModelStory.address(2, on: 3, family, [])
            address.validLifetime = 3600
            #expect(story.apply(.address(address)).reasons == [.addressAdded])
            address.validLifetime = 7200
            #expect(!story.apply(.address(address)).changed)
            #expect(story.snapshot.addresses[3]?.first?.validLifetime == 7200)
        }
    }

    @Test("An address that becomes usable is distinguished from one that changes otherwise")
    func usable() {
        var story = ModelStory()
        story.apply(.address(ModelStory.address(2, on: 3, .ipv6, [.permanent, .tentative])))
        #expect(story.apply(.address(ModelStory.address(2, on: 3, .ipv6))).reasons == [.addressAdded])
        let deprecated = ModelStory.address(2, on: 3, .ipv6, [.permanent, .deprecated])
        #expect(story.apply(.address(deprecated)).reasons == [.addressChanged])
        let duplicate = ModelStory.address(2, on: 3, .ipv6, [.permanent, .duplicate])
        #expect(story.apply(.address(duplicate)).reasons == [.addressChanged])
    }

    @Test("IPv4 addresses are in order of scope, secondaries last; IPv6 newest first, wider scopes before narrower")
    func order() {
        var story = ModelStory()
        for (number, flags) in [(1, []), (2, .secondary), (3, [])] as [(UInt8, AddressFlags)] {
            var address = ModelStory.address(number, on: 3, .ipv4, flags)
            if number == 3 { address.prefixLength = 16 }
            story.apply(.address(address))
        }
        var near = ModelStory.address(4, on: 3)
        near.scope = .link
        story.apply(.address(near))
        for number in [5, 6] as [UInt8] { story.apply(.address(ModelStory.address(number, on: 3, .ipv6))) }
        var linkLocal = ModelStory.address(7, on: 3, .ipv6)
        linkLocal.address = .init(family: .ipv6, bits: 0xFE80 << 112 | 7)
        story.apply(.address(linkLocal))
        #expect(numbers(story) == [4, 1, 3, 2, 6, 5, 7])
    }

    @Test("The entries of a dump are kept in order")
    func listed() {
        var story = ModelStory()
        for number in [5, 6] as [UInt8] {
            story.apply(.address(ModelStory.address(number, on: 3, .ipv6)), .multi)
            story.apply(.address(ModelStory.address(number, on: 3)), .multi)
        }
        #expect(numbers(story) == [5, 6, 5, 6])
    }

    @Test("The first secondary address is promoted when the primary is removed")
    func promoted() {
        var story = ModelStory()
        var other = ModelStory.address(9, on: 3)
        other.address = .init(ipv4: 0x0A00_0009)
        story.apply(.address(ModelStory.address(1, on: 3)))
        story.apply(.address(other))
        for number in [2, 3] as [UInt8] {
            story.apply(.address(ModelStory.address(number, on: 3, .ipv4, [.permanent, .secondary])))
        }
        let effect = story.apply(.addressRemoved(ModelStory.address(1, on: 3)))
        #expect(effect.reasons == [.addressRemoved, .addressChanged])
        #expect(numbers(story) == [9, 2, 3])
        #expect(story.snapshot.addresses[3]?[1].flags == .permanent)
        #expect(!story.apply(.address(ModelStory.address(2, on: 3))).changed)
    }

    @Test("Addresses that a link keeps when it is set down are silently tentative again (keep_addr_on_down)")
    func kept() {
        var story = ModelStory()
        story.link(3)
        story.apply(.address(ModelStory.address(2, on: 3, .ipv6)))
        story.apply(.address(ModelStory.address(3, on: 3, .ipv6, [.permanent, .noDuplicateDetection])))
        story.link(3, up: false)
        let flags = story.snapshot.addresses[3]?.map { $0.flags.contains(.tentative) }
        #expect(flags == [false, true])
    }

    private func numbers(_ story: ModelStory) -> [Int] {
        (story.snapshot.addresses[3] ?? []).map {
            $0.address.family == .ipv4
                ? Int(UInt8(truncatingIfNeeded: $0.address.ipv4Value)) : Int(UInt8(truncatingIfNeeded: $0.address.bits))
        }
    }
}
