internal import ArgumentParser
internal import Foundation
internal import Simulation

/// `tidelog-simulate`: the engine under random work and random trouble, one run for each seed.
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

    @Flag(help: "Prints what happens, line by line.")
    var verbose = false

    @Flag(help: "Runs each seed twice and compares everything that happened.")
    var twice = false

    @Option(help: "How many runs there are at a time.")
    var jobs = 2

    func run() async throws {
        let range = try Self.range(seeds)
        let unknown = without.filter { Trouble(rawValue: $0) == nil }
        guard unknown.isEmpty else {
            let names = Trouble.allCases.map(\.rawValue).joined(separator: ", ")
            throw ValidationError("There is no trouble \(unknown.joined(separator: ", ")). There are: \(names).")
        }
        var options = Simulation.Options(steps: steps)
        options.troubles.subtract(without.compactMap(Trouble.init(rawValue:)))
        options.keepsLines = verbose
        let campaign = Campaign(seeds: range, options: options, runsTwice: twice, jobs: jobs)
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

    private static func range(_ text: String) throws -> ClosedRange<UInt64> {
        let parts = text.split(separator: ".", omittingEmptySubsequences: true).map { UInt64($0) }
        switch parts.count {
        case 1: if let seed = parts[0] { return seed...seed }
        case 2: if let first = parts[0], let last = parts[1], first <= last { return first...last }
        default: break
        }
        throw ValidationError("'\(text)' is no range of seeds; write 1..2000.")
    }
}
