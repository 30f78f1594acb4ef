internal import ArgumentParser
internal import LogInspection
internal import Operations
internal import SyncEngine
internal import Tidelog

struct ReplayCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "replay", abstract: "Fold the log again, and show the state's hash behind each operation.",
        discussion: """
            Everything is done again that the log tells, in memory and without a service: operations, the answers that came, \
            downloads; each batch is built anew and compared with what was sent. Two logs that say the same show the same \
            hashes, on any machine. The store is not changed, and need not be closed.

            tidelog replay --from 120 --to 140        the hash behind each of these
            tidelog replay --step --from 120          one at a time, with what each changes
            tidelog replay --check                    all of it, against snapshots, views and what was sent
            tidelog replay --every 1000 --json >a     on one machine, and on the other:
            tidelog replay --check --with a
            tidelog replay --against http://127.0.0.1:8080/v4/   the whole session, with a service to try things on

            Exits with 1 where a check finds a difference, or an operation ends otherwise than it did; with 2 where a check \
            finds none but the log is damaged, or the store's views do not say what the log says.
            """)

    @Option(help: ArgumentHelp("Begin behind this operation, or time.", valueName: "seq|time"))
    var from: PointArgument?

    @Option(help: ArgumentHelp("End with this operation, or time.", valueName: "seq|time"))
    var to: PointArgument?

    @Option(help: ArgumentHelp("Show every so many operations only, and the last one.", valueName: "count"))
    var every: UInt64 = 1

    @Flag(help: "Wait for the Enter key behind each operation, and show what it changes. q ends.")
    var step = false

    @Flag(help: "Show the bytes of each batch.")
    var batches = false

    @Flag(help: "Show no hashes but whether they are what they have to be.")
    var check = false

    @Option(help: ArgumentHelp("With --check: what 'replay --json' has printed elsewhere.", valueName: "file"))
    var with: String?

    @Option(
        help: ArgumentHelp(
            "Run the session again with this service: its operations, uploads and downloads. It CHANGES what the service has.",
            valueName: "url"))
    var against: String?

    @OptionGroup var options: StoreOptions
    @OptionGroup var format: FormatOptions

    func validate() throws {
        guard every > 0 else { throw ValidationError("--every takes a number above 0.") }
        guard with == nil || check else { throw ValidationError("--with goes with --check.") }
        guard !check || (from == nil && to == nil && !step && !batches) else {
            throw ValidationError(
                "--check looks at the whole log; --from, --to, --step and --batches do not go with it.")
        }
        guard against == nil || (from == nil && to == nil && !step && !batches && !check) else {
            throw ValidationError("--against runs the whole session; no other option goes with it.")
        }
        guard !step || !format.json else { throw ValidationError("--step is for people; it does not go with --json.") }
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
