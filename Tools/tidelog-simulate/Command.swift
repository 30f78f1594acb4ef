internal import ArgumentParser
internal import Foundation
internal import Simulation

/// The program `tidelog-simulate`, which runs the engine with random work and random faults, one run for each seed.
@main
struct Command: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "tidelog-simulate",
        abstract: "Runs the engine in a simulated environment: disks, network, clock, a service and several devices.",
        discussion: """
            Each seed is one run. After the run, every acknowledged operation must have had exactly one effect or a \
            visible reason, no operation was executed twice, the views are the fold of the log, and all devices agree \
            with the service. Otherwise the seed, the shortest run with the violation, and the command that repeats it \
            are printed.

            Exits with 1 if a violation was found.
            """)

    @Option(help: ArgumentHelp("The first and the last seed: 1..2000, or one number.", valueName: "a..b"))
    var seeds = "1..200"

    @Option(help: "The number of steps of a run before the faults stop. Without it, the seed determines it.")
    var steps: Int?

    @Option(help: ArgumentHelp("Disables a kind of fault; may be repeated.", valueName: "trouble"))
    var without: [String] = []

    @Option(
        help: ArgumentHelp(
            "Enables a seeded bug to show that the checks detect it; may be repeated.", valueName: "plant"))
    var plant: [String] = []

    @Option(
        help: ArgumentHelp(
            "The location of the views: files or memory. Without it, the seed determines it.", valueName: "place")
    )
    var views: ViewsPlace?

    @Option(
        help: ArgumentHelp(
            "The number of changed items of the state in memory before they are flushed. Without it, the seed determines it.",
            valueName: "count"))
    var flush: Int?

    @Option(help: "The largest number of devices. Without it, the seed determines their number.")
    var devices: Int?

    @Option(
        help: ArgumentHelp(
            "Whether a gateway is between the devices and the service: yes or no. Without it, the seed determines it.",
            valueName: "presence"))
    var gateway: Presence?

    @Option(
        help: ArgumentHelp(
            "Whether the metadata of the service change: yes or no. Without it, the seed determines it.",
            valueName: "presence"))
    var metadata: Presence?

    @Option(
        help: ArgumentHelp(
            "Whether each step has more faults: yes or no. Without it, runs of at least 64 steps have them.",
            valueName: "presence"))
    var long: Presence?

    @Flag(help: "Also reports operations in doubt for a reason that the engine could have avoided.")
    var strict = false

    @Flag(help: "Prints each event on a line.")
    var verbose = false

    @Flag(help: "Runs each seed twice and compares all events.")
    var twice = false

    @Option(
        help: ArgumentHelp(
            "Instead of the seeds, interrupts this number of connections to a service that assigns keys and has no repeatable requests.",
            valueName: "count"))
    var cuts: Int?

    @Flag(help: "With --cuts: also generates cases that no client can prevent, to show that the checks detect them.")
    var residue = false

    @Option(
        help: ArgumentHelp(
            "Instead of the seeds, explores all orders of the steps of small systems with up to this number of faults.",
            valueName: "faults"))
    var explore: Int?

    @Option(help: "With --explore: the number of runs after which the search of a distribution of the faults ends.")
    var runs = Int.max

    @Flag(help: "With --explore: also searches orders that differ only in independent steps.")
    var unreduced = false

    @Option(help: "With --explore: only scenarios whose name contains this text.")
    var scenario: String?

    @Option(
        help: ArgumentHelp(
            "Runs apps that only append to shared entities, and writes their history to this file, for Tools/check-history.",
            valueName: "file"))
    var history: String?

    @Option(help: "The number of concurrent runs.")
    var jobs = 2

    func run() async throws {
        Simulation.prepareProcess()
        if let explore { return try await self.explore(faults: explore) }
        let range = try Self.range(seeds)
        if let cuts {
            let outcome = await CutSweep(cuts: cuts, firstSeed: range.lowerBound, drawsResidue: residue).run()
            for violation in outcome.violations { print(violation) }
            print(outcome.summary)
            if !outcome.violations.isEmpty { throw ExitCode(1) }
            return
        }
        var options = Simulation.Options(steps: steps)
        options.troubles.subtract(try Self.named(without))
        options.plants = try Self.named(plant)
        options.isStrict = strict
        options.keepsLines = verbose
        options.viewsAreFiles = views.map { $0 == .files }
        options.flushLimit = flush
        if let devices, devices < 1 { throw ValidationError("A run has at least one device.") }
        options.devices = devices
        options.hasGateway = gateway.map { $0 == .yes }
        options.changesMetadata = metadata.map { $0 == .yes }
        options.isLong = long.map { $0 == .yes }
        options.recordsHistory = history != nil
        let file = try history.map(Self.create)
        let campaign = SeedSweep(seeds: range, options: options, runsTwice: twice, jobs: jobs)
        let start = ContinuousClock.now
        let report = await campaign.run { outcome, finding in
            for line in outcome.lines { print(line) }
            file?.write(Data(outcome.history.map { $0 + "\n" }.joined().utf8))
            if let finding { print(finding.description) }
            fflush(nil)
        }
        let seconds = (ContinuousClock.now - start) / .seconds(1)
        print(report.summary(seconds: seconds))
        if !report.findings.isEmpty { throw ExitCode(1) }
    }

    private static func create(_ path: String) throws -> FileHandle {
        guard FileManager.default.createFile(atPath: path, contents: nil),
            let file = FileHandle(forWritingAtPath: path)
        else { throw ValidationError("\(path) cannot be written.") }
        return file
    }

    enum Presence: String, ExpressibleByArgument {
        case yes, no
    }

    enum ViewsPlace: String, ExpressibleByArgument {
        case files, memory
    }

    private static func named<Name: RawRepresentable<String> & CaseIterable & Hashable>(
        _ names: [String]
    ) throws -> Set<Name> {
        Set(
            try names.map { name in
                guard let found = Name(rawValue: name) else {
                    let all = Name.allCases.map(\.rawValue).joined(separator: ", ")
                    throw ValidationError("There is no \(name). The names are: \(all).")
                }
                return found
            })
    }

    private static func range(_ text: String) throws -> ClosedRange<UInt64> {
        let parts = text.split(separator: ".", omittingEmptySubsequences: true).map { UInt64($0) }
        switch parts.count {
        case 1: if let seed = parts[0] { return seed...seed }
        case 2: if let first = parts[0], let last = parts[1], first <= last { return first...last }
        default: break
        }
        throw ValidationError("'\(text)' is not a range of seeds; write 1..2000.")
    }

    private func explore(faults: Int) async throws {
        var isViolated = false
        for scenario in ExplorationScenario.all(faults: faults) {
            if let name = self.scenario, !scenario.name.contains(name) { continue }
            let outcome = try await Exploration(scenario, limit: runs, reduces: !unreduced).run()
            print(
                """
                \(scenario.name): \(outcome.states) states, \(outcome.transitions) steps, \(outcome.runs) runs, \
                \(outcome.ends) ends, \(outcome.doubts) in doubt, \(outcome.violations.count) violations\
                \(outcome.isIncomplete ? ", incomplete" : "")
                """)
            for violation in outcome.violations { print(violation) }
            if !outcome.violations.isEmpty { isViolated = true }
        }
        if isViolated { throw ExitCode(1) }
    }
}
