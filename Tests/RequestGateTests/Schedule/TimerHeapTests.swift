import NetworkLab
import Testing

@testable import RequestGate

struct TimerHeapTests {
    @Test func `timers are removed in order of time`() {
        var heap = TimerHeap()
        for (id, at) in [(Int32(0), Int64(30)), (1, 10), (2, 20), (3, -5)] { heap.set(id, at: .init(nanoseconds: at)) }
        #expect(heap.first?.id == 3)
        #expect(heap.first?.at == .init(nanoseconds: -5))
        var order: [Int32] = []
        while let id = heap.popFirst(dueAt: .init(nanoseconds: 20)) { order.append(id) }
        #expect(order == [3, 1, 2])
        #expect(heap.count == 1)
        #expect(heap.at(0) == .init(nanoseconds: 30))
        #expect(heap.at(1) == nil)
    }

    @Test func `a number without a timer can't be removed`() {
        var heap = TimerHeap()
        heap.set(2, at: .never)
        for id: Int32 in [-1, 0, 1, 3, .max] { #expect(heap.remove(id) == false) }
        #expect(heap.remove(2) == true)
        #expect(heap.remove(2) == false)
        #expect(heap.first == nil)
    }

    @Test(arguments: 0..<64) func `random operations agree with a sorted list`(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        var heap = TimerHeap()
        var model: [Int32: Int64] = [:]
        for _ in 0..<2000 {
            let id = Int32.random(in: 0..<100, using: &generator)
            switch UInt8.random(in: 0..<8, using: &generator) {
            case 0..<5:
                let at = Int64.random(in: -20..<200, using: &generator)
                heap.set(id, at: .init(nanoseconds: at))
                model[id] = at
            case 5..<7:
                #expect(heap.remove(id) == (model.removeValue(forKey: id) != nil))
            default:
                let now = Int64.random(in: -20..<200, using: &generator)
                let popped = heap.popFirst(dueAt: .init(nanoseconds: now))
                let earliest = model.values.min()
                #expect((popped != nil) == (earliest ?? .max <= now))
                if let popped { #expect(model.removeValue(forKey: popped) == earliest) }
            }
            #expect(heap.count == model.count)
            #expect(heap.first?.at.nanoseconds == model.values.min())
            #expect(heap.at(id)?.nanoseconds == model[id])
        }
        #expect(drained(&heap) == model.values.sorted())
    }

    private func drained(_ heap: inout TimerHeap) -> [Int64] {
        var moments: [Int64] = []
        while let first = heap.first, heap.remove(first.id) { moments.append(first.at.nanoseconds) }
        return moments
    }
}
