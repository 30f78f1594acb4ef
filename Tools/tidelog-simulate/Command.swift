internal import ArgumentParser
internal import Foundation
internal import Simulation

/// The program `tidelog-simulate`, which runs the engine with random work and random faults, one run for each seed.
@main
struct Command: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "tidelog-simulate",
        abstract: "Runs the real engine in a simulated world: disks, network, clock, a service and several devices.",
        discussion: """
            Each seed is one run. After it, every operation that was acknowledged has had exactly one effect or a visible \
            reason, nothing was done twice, the views are the fold of the log, and all devices agree with the service. \
            Where that is not so, the seed, the shortest run that shows it, and the command that repeats it are printed.

            Exits with 1 where something was found.
            """)

    @Option(help: ArgumentHelp("The first and the last seed: 1..2000, or one number.", valueName: "a..b"))
    var seeds = "1..200"

    @Option(help: "How many steps a run has before the trouble stops. Without it, the seed says.")
    var steps: Int?

    @Option(help: ArgumentHelp("Leaves a trouble out; may be repeated.", valueName: "trouble"))
    var without: [String] = []

    @Option(
        help: ArgumentHelp(
            "Plants a fault that no engine can stand, to see that it is found; may be repeated.", valueName: "plant"))
    var plant: [String] = []

    @Option(
        help: ArgumentHelp("Where the views are: in files or in memory. Without it, the seed says.", valueName: "place")
    )
    var views: ViewsPlace?

    @Option(
        help: ArgumentHelp(
            "How many changed items of the state are kept in memory until they are written. Without it, the seed says.",
            valueName: "count"))
    var flush: Int?

    @Flag(help: "Also reports what has a reason, but one that the engine could have done without.")
    var strict = false

    @Flag(help: "Prints what happens, line by line.")
    var verbose = false

    @Flag(help: "Runs each seed twice and compares everything that happened.")
    var twice = false

    @Option(
        help: ArgumentHelp(
            "Cuts so many connections to a service that gives keys and knows no repetitions, instead of the seeds.",
            valueName: "count"))
    var cuts: Int?

    @Flag(help: "With --cuts: also draws what no client can prevent, to see that it is found.")
    var residue = false

    @Option(help: "How many runs there are at a time.")
    var jobs = 2

    func run() async throws {
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
        let campaign = SeedSweep(seeds: range, options: options, runsTwice: twice, jobs: jobs)
        let start = ContinuousClock.now
        let report = await campaign.run { outcome, finding in
            for line in outcome.lines { print(line) }
            if let finding { print(finding.description(options)) }
            fflush(nil)
        }
        let seconds = (ContinuousClock.now - start) / .seconds(1)
        print(report.summary(seconds: seconds))
        if !report.findings.isEmpty { throw ExitCode(1) }
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
                    throw ValidationError("There is no \(name). There are: \(all).")
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
}
