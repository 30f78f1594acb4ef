import Foundation
import Testing

/// Random sequences of operations of an app, uploads, downloads and changes by other clients, with invariants that must
/// always hold. A seed identifies a sequence: `TIDELOG_SEED=123` runs only that one, `TIDELOG_SEQUENCES=100000` the
/// given number of sequences from 1 on.
struct SequenceTests {
    private static let seeds: ClosedRange<UInt64> = {
        let environment = ProcessInfo.processInfo.environment
        if let seed = environment["TIDELOG_SEED"].flatMap(UInt64.init) { return seed...seed }
        return 1...max(1, environment["TIDELOG_SEQUENCES"].flatMap(UInt64.init) ?? 10_000)
    }()

    /// Chunks of 500 sequences, so that all cores are used.
    private static let chunks = stride(from: seeds.lowerBound, through: seeds.upperBound, by: 500).map {
        $0...($0 + min(499, seeds.upperBound - $0))
    }

    @Test(arguments: chunks)
    func `any operations keep links symmetric and cardinalities valid, and V2, V4 and the service agree`(
        _ seeds: ClosedRange<UInt64>
    ) throws {
        var accepted = 0
        var refused = 0
        var batches = 0
        var failures = 0
        for seed in seeds {
            let sequence = Sequence(seed: seed)
            let (v4, steps) = try sequence.run(.v4)
            let (v2, legacySteps) = try sequence.run(.v2)
            accepted += v4.accepted
            refused += v4.refused
            batches += v4.batches + v2.batches
            if !v4.violations.isEmpty {
                fail(sequence, steps, .v4, &failures)
            } else if !v2.violations.isEmpty {
                fail(sequence, legacySteps, .v2, &failures)
            } else if !sequence.isShared, v4.lines != v2.lines {
                // If other clients interfere, a V2 response does not identify the failed member of a change set, and
                // more operations stay pending.
                let difference = Sequence.difference("V4", v4.lines, "V2", v2.lines)
                let text = steps.map(Sequence.text) + difference
                Issue.record("Seed \(seed): \(text.joined(separator: "\n"))")
            }
        }
        print(
            "sequences \(seeds.lowerBound) to \(seeds.upperBound): \(accepted) operations and change sets accepted,",
            "\(refused) refused, \(batches) batches sent")
    }

    /// Shrinks the sequence and records an issue. Shrinking is slow, so only the first failures are shrunk.
    private func fail(_ sequence: Sequence, _ steps: [Sequence.Step], _ dialect: Dialect, _ failures: inout Int) {
        failures += 1
        guard failures <= 3 else {
            Issue.record("Seed \(sequence.seed), \(dialect) fails, too.")
            return
        }
        let (smallest, violations) = sequence.shrunk(steps, dialect)
        let text = smallest.map(Sequence.text).joined(separator: "\n")
        Issue.record("Seed \(sequence.seed), \(dialect):\n\(text)\n\(violations.joined(separator: "\n"))")
    }
}
