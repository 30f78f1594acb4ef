import Simulation
import Testing

/// All orders of steps of small systems, with each fault at each place.
@Suite struct ExplorationTests {
    @Test(arguments: ExplorationScenario.all(faults: 1))
    func `in every order of steps with one fault, each operation takes effect once or waits for a decision`(
        _ scenario: ExplorationScenario
    ) async throws {
        let outcome = try await Exploration(scenario, limit: 60).run()
        #expect(outcome.violations == [])
        #expect(outcome.ends > 0)
    }

    @Test func `the exploration finds a request that a forgetful ledger executes twice`() async throws {
        var scenario = try #require(
            ExplorationScenario.all(faults: 1).first { $0.name == "one device creates twice, with a gateway" })
        scenario.plant = .forgetfulLedger
        let outcome = try await Exploration(scenario).run()
        let violation = try #require(outcome.violations.first)
        #expect(violation.contains("took effect 2 times") && violation.contains("the gateway crashes"), "\(violation)")
    }
}
