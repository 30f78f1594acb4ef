import Testing

@testable import Simulation

/// All orders of steps of small systems, with each fault at each place.
@Suite struct ExplorationTests {
    @Test(arguments: ExplorationScenario.all(faults: 1))
    func `in every order of steps with one fault, each operation takes effect once or waits for a decision`(
        _ scenario: ExplorationScenario
    ) async throws {
        let outcome = try await Exploration(scenario, limit: 20).run()
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

    @Test func `two devices with one fault reveal a ledger that forgets the outcomes of other clients`() async throws {
        func violations(_ name: String, faults: Int) async throws -> [String] {
            var scenario = try #require(
                ExplorationScenario.all(faults: faults).first { $0.name == "\(name), with a gateway" })
            scenario.plant = .crowdedLedger
            return try await Exploration(scenario).run().violations
        }
        let violation = try #require(try await violations("two devices create", faults: 1).first)
        #expect(violation.contains("took effect 2 times"), "\(violation)")
        #expect(try await violations("two devices create", faults: 0) == [])
        #expect(try await violations("one device creates twice", faults: 1) == [])
    }

    @Test(
        arguments: ExplorationScenario.all(faults: 0)
            + ExplorationScenario.all(faults: 1).filter { $0.name == "two devices create, without a gateway" })
    func `leaving out orders of independent steps loses no final state`(_ scenario: ExplorationScenario) async throws {
        let reduced = try await Exploration(scenario).run()
        let complete = try await Exploration(scenario, reduces: false).run()
        #expect(reduced.finalStates == complete.finalStates && !reduced.finalStates.isEmpty)
        #expect(reduced.states <= complete.states)
    }

    @Test func `faults are distributed to the devices and the gateway in every way`() {
        #expect(FaultBudget.all(0, devices: 2, hasGateway: true).map(\.devices) == [[0, 0]])
        #expect(FaultBudget.all(1, devices: 2, hasGateway: true).map(\.devices) == [[1, 0], [0, 1], [0, 0]])
        #expect(FaultBudget.all(1, devices: 2, hasGateway: true).map(\.gateway) == [0, 0, 1])
        #expect(FaultBudget.all(1, devices: 2, hasGateway: false).map(\.devices) == [[1, 0], [0, 1]])
        #expect(FaultBudget.all(2, devices: 2, hasGateway: true).count == 6)
    }
}
