/// An exhaustive search of all series of steps of a scenario, up to its bounds: each order of the steps of devices,
/// gateway and network, and each place of each fault.
///
/// The engine and the gateway are the real ones. Each run begins anew and repeats a series of choices, then takes the
/// first possible step at each further choice. It ends early in a state that was reached before: what follows is known.
/// Orders that differ only in independent steps are searched once; see ``ExploredSystem/steps(_:reduces:)``.
package struct Exploration {
    package struct Outcome: Sendable {
        /// The number of different states.
        package var states = 0
        /// The number of steps that were taken for the first time.
        package var transitions = 0
        /// The number of runs.
        package var runs = 0
        /// The number of runs to a final state.
        package var ends = 0
        /// The digests of the final states, which are comparable within a process.
        package var finalStates: Set<Int> = []
        /// The number of operations in doubt in final states.
        package var doubts = 0
        /// Sentences with the steps that lead to them.
        package var violations: [String] = []
        /// Whether the limit of runs ended the search.
        package var isIncomplete = false

        package init() {}
    }

    /// A choice of a run: the possible steps and the index of the one that was taken.
    private struct Choice {
        let steps: [ExplorationStep]
        var index = 0

        var step: ExplorationStep { steps[index] }
    }

    let scenario: ExplorationScenario
    let limit: Int
    private let reduces: Bool

    /// - Parameters:
    ///   - limit: The maximum number of runs for each distribution of the faults.
    ///   - reduces: Whether orders that differ only in independent steps are searched once.
    package init(_ scenario: ExplorationScenario, limit: Int = .max, reduces: Bool = true) {
        self.scenario = scenario
        self.limit = limit
        self.reduces = reduces
    }

    package func run() async throws -> Outcome {
        let installation = try await ExploredSystem(scenario, nil)
        let image = try await installation.install()
        var outcome = Outcome()
        var visited: Set<Int> = []
        let budgets = FaultBudget.all(
            scenario.faults, devices: scenario.work.count, hasGateway: scenario.hasGateway)
        for budget in budgets where outcome.violations.isEmpty {
            try await search(budget, image, &visited, &outcome)
        }
        outcome.states = visited.count
        return outcome
    }

    /// Searches all runs with the given faults.
    private func search(
        _ budget: FaultBudget, _ image: ExplorationImage, _ visited: inout Set<Int>, _ outcome: inout Outcome
    ) async throws {
        let start = outcome.runs
        var path: [Choice] = []
        repeat {
            guard outcome.runs - start < limit else {
                outcome.isIncomplete = true
                break
            }
            try await follow(&path, budget, image, &visited, &outcome)
            while let last = path.last, last.index + 1 >= last.steps.count { path.removeLast() }
            if !path.isEmpty { path[path.count - 1].index += 1 }
        } while !path.isEmpty && outcome.violations.isEmpty
    }

    /// Runs the choices of `path`, then new ones, which it appends.
    private func follow(
        _ path: inout [Choice], _ budget: FaultBudget, _ image: ExplorationImage, _ visited: inout Set<Int>,
        _ outcome: inout Outcome
    ) async throws {
        outcome.runs += 1
        let system = try await ExploredSystem(scenario, image)
        var budget = budget
        for choice in path { await system.take(choice.step, &budget) }
        var violations: [String] = []
        while true {
            if !path.isEmpty { outcome.transitions += 1 }
            violations = await system.violations()
            let digest = await system.digest(budget)
            guard violations.isEmpty, visited.insert(digest).inserted else { break }
            let steps = await system.steps(budget, reduces: reduces)
            guard steps.contains(where: { !$0.isFault }) else {
                outcome.ends += 1
                outcome.finalStates.insert(digest)
                violations = await system.drain()
                outcome.doubts += await system.doubts
                break
            }
            let choice = Choice(steps: steps)
            path.append(choice)
            await system.take(choice.step, &budget)
        }
        if !violations.isEmpty {
            outcome.violations.append(
                "\(scenario.name): \(violations.joined(separator: "; ")), after: "
                    + path.map { $0.step.description }.joined(separator: ", "))
        }
        await system.close()
    }
}
