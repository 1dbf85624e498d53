import FuzzSupport
import ReachabilityCore

/// Any messages through the decoder into the model, and each model through the evaluation.
@main
enum FuzzModel {
    static func main() {
        Fuzzer.run { start, count in
            FuzzModel.run(UnsafeRawBufferPointer(start: start, count: count))
            return 0
        }
    }

    private static func run(_ bytes: UnsafeRawBufferPointer) {
        let input = FuzzInput(bytes)
        let evaluator = PathEvaluator(context: EvaluationContext(user: 0))
        var snapshot = NetworkSnapshot()
        var now = Instant(nanoseconds: 0)
        input.decoder.decodeAll(input.payload.bytes) { header, event in
            now = now.advanced(by: .seconds(1))
            let before = snapshot
            let effect = snapshot.apply(event, header, at: now)
            let evaluation = evaluator.evaluate(snapshot, at: now)
            guard !effect.changed else { return }
            // An effect without a reason has to leave the verdict alone.
            let path = evaluator.evaluate(before, at: now).path
            Fuzzer.expect(path == evaluation.path, "\(event) changed the path to \(evaluation.path) without a reason")
        }
        _ = evaluator.evaluate(snapshot, at: .init(nanoseconds: .max))
    }
}
