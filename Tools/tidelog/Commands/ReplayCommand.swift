internal import ArgumentParser
internal import LogInspection
internal import OfflineStore
internal import Operations
import ServiceReplay
internal import Tidelog

struct ReplayCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "replay", abstract: "Fold the log again, and print the hash of the state after each operation.",
        discussion: """
            Applies all records again, in memory and without a service: operations, responses, downloads; rebuilds \
            each batch and compares it with the bytes that were sent. Two logs with the same content print the same \
            hashes, on any machine. The store does not change, and need not be closed.

            tidelog replay --from 120 --to 140        the hash after each of these
            tidelog replay --step --from 120          one at a time, with the changes of each
            tidelog replay --check                    the whole log, against snapshots, views and sent batches
            tidelog replay --every 1000 --json >a     on one machine, and on the other:
            tidelog replay --check --with a
            tidelog replay --against http://127.0.0.1:8080/v4/   the whole session, with a service for experiments

            Exits with 1 if a check finds a difference or an operation has another outcome; with 2 if a check \
            finds none but the log is damaged or the views differ from the log.
            """)

    @Option(help: ArgumentHelp("Begin after this operation or time.", valueName: "seq|time"))
    var from: PointArgument?

    @Option(help: ArgumentHelp("End with this operation or time.", valueName: "seq|time"))
    var to: PointArgument?

    @Option(help: ArgumentHelp("Print only every N-th operation, and the last one.", valueName: "count"))
    var every: UInt64 = 1

    @Flag(help: "Show the changes of each operation, and wait for Enter after it. q ends.")
    var step = false

    @Flag(help: "Show the bytes of each batch.")
    var batches = false

    @Flag(help: "Check the hashes instead of printing them.")
    var check = false

    @Option(help: ArgumentHelp("With --check: the output of 'replay --json' of another run.", valueName: "file"))
    var with: String?

    @Option(
        help: ArgumentHelp(
            "Repeat the session with this service: operations, uploads and downloads. It CHANGES the data of the service.",
            valueName: "url"))
    var against: String?

    @OptionGroup var options: StoreOptions
    @OptionGroup var format: FormatOptions

    func validate() throws {
        guard every > 0 else { throw ValidationError("--every must be greater than 0.") }
        guard with == nil || check else { throw ValidationError("--with requires --check.") }
        guard !check || (from == nil && to == nil && !step && !batches) else {
            throw ValidationError(
                "--check reads the whole log; it cannot be combined with --from, --to, --step and --batches.")
        }
        guard against == nil || (from == nil && to == nil && !step && !batches && !check) else {
            throw ValidationError("--against repeats the whole session; it cannot be combined with other options.")
        }
        guard !step || !format.json else {
            throw ValidationError("--step is interactive; it cannot be combined with --json.")
        }
    }

    func run() async throws {
        let store = try options.inspected
        if check { return try await runCheck(store) }
        if let against { return try await run(store, against: against) }
        let first = try from.map { try store.sequence(at: $0.point) } ?? 0
        let last = try to.map { try store.sequence(at: $0.point) } ?? .max
        let replay = try Replay(store, from: first, keepsDigests: true)
        if let note = ReplayText.origin(replay, asked: first), !format.json { try Console.print(note) }
        var isLastShown = true
        var latest: Replay.Step?
        while replay.sequence < last, let step = try replay.next() {
            latest = step
            isLastShown = step.entry.sequence % every == 0
            guard isLastShown || (batches && step.batch != nil) else { continue }
            try show(step, replay)
            if self.step, !(try shouldContinue()) { return }
        }
        if !isLastShown, let latest { try show(latest, replay) }
    }

    private func show(_ step: Replay.Step, _ replay: Replay) throws {
        let text = ReplayText(step)
        if format.json { return try Console.print(text.json(withBytes: batches)) }
        try Console.print(text.line)
        if self.step { for line in text.changes(replay) { try Console.print(line) } }
        if batches { for line in text.batchLines { try Console.print(line) } }
    }

    /// Returns whether the user requests the next step.
    private func shouldContinue() throws -> Bool {
        try Console.flush()
        guard let answer = readLine() else { return false }
        return !answer.lowercased().hasPrefix("q")
    }

    // MARK: Against a service

    private func run(_ store: InspectedStore, against root: String) async throws {
        let credentials = try EnvironmentCredentials().credentials(typed: root)
        let replay = SessionReplay(store, serviceRoot: root, credentials: credentials)
        let operations = try await replay.run()
        for line in SessionReplayText.lines(operations, json: format.json) { try Console.print(line) }
        if operations.contains(where: { !$0.isSame }) { throw ReportedFailure(status: .failed) }
    }

    // MARK: Check

    private func runCheck(_ store: InspectedStore) async throws {
        let others = try with.map { try ReplayText.digests(inFile: $0) } ?? []
        let check = try await ProgressLine.showing("Replaying") {
            try await store.checkReplay(against: others, progress: $0)
        }
        for line in format.json ? [ReplayCheckText(check).json] : ReplayCheckText(check).lines {
            try Console.print(line)
        }
        if check.storedViews?.isWrong == true { throw ReportedFailure(status: .damage) }
        if !check.isSound { throw ReportedFailure(status: .failed) }
        if check.isDamaged { throw ReportedFailure(status: .damage) }
    }
}
