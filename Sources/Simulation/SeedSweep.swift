import DiskSimulation

/// A sweep over many seeds, several of them concurrently, with its findings.
package struct SeedSweep: Sendable {
    package let seeds: ClosedRange<UInt64>
    package let options: Simulation.Options
    /// Whether each seed is run twice to verify that the run is deterministic.
    package let runsTwice: Bool
    /// Whether to stop after the first finding.
    package let stopsAtFirst: Bool
    package let jobs: Int

    package init(
        seeds: ClosedRange<UInt64>, options: Simulation.Options = .init(), runsTwice: Bool = false,
        stopsAtFirst: Bool = false, jobs: Int = 2
    ) {
        self.seeds = seeds
        self.options = options
        self.runsTwice = runsTwice
        self.stopsAtFirst = stopsAtFirst
        self.jobs = max(1, jobs)
    }

    /// A seed for which an invariant is violated.
    package struct Finding: Sendable {
        package let seed: UInt64
        package let violations: [String]
        /// The options with which the shortest run reproduces the violation.
        package let options: Simulation.Options
        /// The minimum number of steps that reproduce the violation.
        package let steps: Int

        package var description: String {
            let without =
                FaultKind.allCases.filter { !options.troubles.contains($0) }.map { " --without \($0)" }.joined()
                + (options.isStrict ? " --strict" : "") + options.world
                + options.plants.map { " --plant \($0)" }.sorted().joined()
            return "seed \(seed): \(violations.joined(separator: "\n    "))\n    swift run tidelog-simulate --seeds "
                + "\(seed)..\(seed) --steps \(steps)\(without) --verbose"
        }
    }

    package struct Report: Sendable {
        package var runs = 0
        package var findings: [Finding] = []
        package var counts = Counts()

        package func summary(seconds: Double) -> String {
            let troubles = counts.troubles.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }
            let total = counts.troubles.values.reduce(0, +)
            let features = AppFeature.allCases.sorted().map { "\($0) \(counts.features[$0, default: 0])" }
            let rate = (Double(runs) / max(seconds, 0.001) * 10).rounded() / 10
            return """
                simulated seeds: \(runs) (\(rate) a second); \(counts.operations) operations, \(counts.requests) requests, \
                \(counts.batches) batches, \(counts.confirmed) confirmed, \(counts.rejected) rejected, \
                \(counts.visibleDoubts) unconfirmed with a reason, \(counts.restarts) restarts
                simulated faults: \(total) (\(troubles.joined(separator: ", ")))
                simulated features: \(features.joined(separator: ", "))
                simulated files of views: opened \(counts.viewsOpened) times, damaged \(counts.viewsRemade) times
                """
        }
    }

    /// Runs the seeds.
    ///
    /// - Parameter each: Called with each outcome as it arrives, and with its finding, if any.
    package func run(_ each: (Outcome, Finding?) -> Void = { _, _ in }) async -> Report {
        var report = Report()
        await withTaskGroup(of: (Outcome, Finding?).self) { group in
            var next = seeds.lowerBound
            var isDone = false
            func start() {
                guard !isDone else { return }
                let seed = next
                if seed == seeds.upperBound { isDone = true } else { next += 1 }
                group.addTask { await self.run(seed) }
            }
            for _ in 0..<jobs { start() }
            while let (outcome, finding) = await group.next() {
                each(outcome, finding)
                report.runs += 1
                report.counts += outcome.counts
                if let finding {
                    report.findings.append(finding)
                    if stopsAtFirst { isDone = true }
                }
                start()
            }
        }
        report.findings.sort { $0.seed < $1.seed }
        return report
    }

    private func run(_ seed: UInt64) async -> (Outcome, Finding?) {
        let outcome = await Simulation(seed: seed, options: options).run()
        var violations = outcome.violations
        if runsTwice, violations.isEmpty {
            let again = await Simulation(seed: seed, options: options).run()
            if again.hash != outcome.hash { violations = ["The second run of the seed differs from the first."] }
        }
        guard !violations.isEmpty else { return (outcome, nil) }
        var options = options
        options.keepsLines = false
        let finding = Finding(seed: seed, violations: violations, options: options, steps: outcome.steps)
        if stopsAtFirst { return (outcome, finding) }
        let shortest = await withFewerDevices(await shortened(finding))
        return (outcome, await withFewerFaults(shortest, of: outcome.counts.troubles.keys.sorted()))
    }

    /// Finds a shorter run of the seed that also fails, by bisection. Its steps are a prefix of those of the longer run.
    private func shortened(_ finding: Finding) async -> Finding {
        var shortest = finding
        var options = finding.options
        // Otherwise the steps of a short run would have fewer faults.
        if options.isLong == nil, finding.steps >= Simulation.longLife { options.isLong = true }
        var passing = -1
        while passing + 1 < shortest.steps {
            let steps = (passing + shortest.steps) / 2
            if let shorter = await failing(finding.seed, options, steps: steps) {
                shortest = shorter
            } else {
                passing = steps
            }
        }
        return shortest
    }

    /// Finds a run with fewer devices that also fails.
    private func withFewerDevices(_ finding: Finding) async -> Finding {
        var options = finding.options
        for devices in 1...2 where devices < finding.options.devices ?? 3 {
            options.devices = devices
            if let smaller = await failing(finding.seed, options, steps: finding.steps) { return smaller }
        }
        return finding
    }

    /// Finds a run with fewer kinds of faults that also fails.
    private func withFewerFaults(_ finding: Finding, of kinds: [FaultKind]) async -> Finding {
        var smallest = finding
        for kind in kinds {
            var options = smallest.options
            options.troubles.remove(kind)
            if let smaller = await failing(finding.seed, options, steps: finding.steps) { smallest = smaller }
        }
        return smallest
    }

    private func failing(_ seed: UInt64, _ options: Simulation.Options, steps: Int) async -> Finding? {
        var options = options
        options.steps = steps
        let outcome = await Simulation(seed: seed, options: options).run()
        if outcome.violations.isEmpty { return nil }
        return Finding(seed: seed, violations: outcome.violations, options: options, steps: steps)
    }
}

extension Simulation.Options {
    /// The options of the command for the parts of the world that are not left to the seed.
    fileprivate var world: String {
        (viewsAreFiles.map { $0 ? " --views files" : " --views memory" } ?? "")
            + (flushLimit.map { " --flush \($0)" } ?? "")
            + (devices.map { " --devices \($0)" } ?? "")
            + (hasGateway.map { $0 ? " --gateway yes" : " --gateway no" } ?? "")
            + (changesMetadata.map { $0 ? " --metadata yes" : " --metadata no" } ?? "")
            + (isLong.map { $0 ? " --long yes" : " --long no" } ?? "")
    }
}

extension Simulation {
    /// Prepares the process of a program that only runs simulations; see ``DiskMount/omitMemoryStatistics()``.
    package static func prepareProcess() { DiskMount.omitMemoryStatistics() }
}
