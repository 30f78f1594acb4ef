import Foundation
import Simulation
import Testing

/// The engine in the simulator. A failure prints the command that shows the run line by line.
struct SimulationTests {
    /// Number of runs, set by `TIDELOG_SIMULATIONS`.
    private static let runs = max(
        1, ProcessInfo.processInfo.environment["TIDELOG_SIMULATIONS"].flatMap { UInt64($0) } ?? 2_000)

    /// The runs from the first seed on.
    private static let sweep = Task {
        let start = ContinuousClock.now
        let report = await SeedSweep(seeds: 1...runs).run()
        print(report.summary(seconds: (ContinuousClock.now - start) / .seconds(1)))
        return report
    }

    @Test func `no operation is lost, repeated or left without a reason`() async {
        #expect(await Self.sweep.value.findings.map { $0.description } == [])
    }

    @Test(.enabled(if: runs >= 600, "Fewer than 600 runs may lack some kinds of faults."))
    func `all kinds of faults and all features occur`() async {
        let counts = await Self.sweep.value.counts
        #expect(FaultKind.allCases.filter { counts.troubles[$0] == nil } == [])
        #expect(AppFeature.allCases.filter { counts.features[$0, default: 0] == 0 } == [])
    }

    @Test(arguments: SeededBug.allCases)
    func `a seeded bug is detected`(_ plant: SeededBug) async {
        var options = Simulation.Options()
        options.plants = [plant]
        let report = await SeedSweep(seeds: 1...800, options: options, stopsAtFirst: true).run()
        #expect(!report.findings.isEmpty)
    }

    @Test func `violations are reported with shorter runs of fewer devices and faults that repeat them`() async throws {
        var options = Simulation.Options()
        options.plants = [.forgetfulDisk]
        let findings = await SeedSweep(seeds: 1...40, options: options).run().findings
        #expect(findings.contains { $0.options.devices != nil })
        #expect(findings.contains { $0.options.troubles.count < FaultKind.allCases.count })
        let finding = try #require(findings.first)
        let full = await Simulation(seed: finding.seed, options: options).run()
        #expect(finding.steps <= full.steps)
        var shortest = finding.options
        shortest.steps = finding.steps
        #expect(await Simulation(seed: finding.seed, options: shortest).run().violations == finding.violations)
    }

    @Test func `a seed determines a run byte by byte`() async {
        let report = await SeedSweep(seeds: 5_001...5_020, runsTwice: true).run()
        #expect(report.findings.map { $0.description } == [])
    }

    @Test func `a seed also determines a run with a gateway of several nodes`() async {
        var options = Simulation.Options()
        options.hasGateway = true
        let report = await SeedSweep(seeds: 5_021...5_040, options: options, runsTwice: true).run()
        #expect(report.findings.map { $0.description } == [])
        #expect(report.counts.features[.gatewayRuns] == 20)
        #expect(report.counts.troubles[.nodeCrash, default: 0] > 0)
    }

    @Test func `stores follow changed metadata with pending operations, drafts and delta links`() async {
        var options = Simulation.Options()
        options.changesMetadata = true
        let report = await SeedSweep(seeds: 5_041...5_080, options: options, runsTwice: true).run()
        #expect(report.findings.map { $0.description } == [])
        #expect(report.counts.troubles[.metadataChange, default: 0] > 0)
    }

    @Test func `interrupted creates are neither lost nor repeated, and those with unique content need no user`()
        async
    {
        let outcome = await CutSweep(cuts: 400).run()
        print(outcome.summary)
        #expect(outcome.violations == [])
        for content in CutSimulation.Scenario.allCases where content.isUnambiguous {
            #expect(outcome.cuts[content, default: 0] > 0)
        }
    }

    @Test func `faults that no client can prevent are detected`() async {
        let outcome = await CutSweep(cuts: 400, drawsResidue: true).run()
        #expect(outcome.violations.contains { $0.contains("loss (stranger") })
        #expect(outcome.violations.contains { $0.contains("duplicate (unique, muchTooLate") })
    }
}
