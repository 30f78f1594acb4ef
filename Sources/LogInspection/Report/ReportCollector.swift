import EDM
import ODataWire
import OfflineStore
import OperationLog
import Operations
import SyncCore
import Views

/// Collects the content of a report.
struct ReportCollector {
    private let store: InspectedStore
    private let point: PointInTime?
    private let limits: Report.Limits
    private let isRedacted: Bool
    private var content = ReportContent()
    private var sets = EntitySets()
    private var batchIndexes: [BatchID: Int] = [:]
    private var mentioned: Set<EntityID> = []
    private var mentions = 0

    private static let shownConflicts = 500
    private static let shownErrors = 1_000
    /// The largest total number of entity references in all records.
    private static let mentionLimit = 1_000_000

    init(_ store: InspectedStore, at point: PointInTime?, limits: Report.Limits, isRedacted: Bool, isDamaged: Bool) {
        self.store = store
        self.point = point
        self.limits = limits
        self.isRedacted = isRedacted
        content.isDamaged = isDamaged
    }

    func content() async throws(TidelogError) -> ReportContent {
        var reading = self
        try await reading.run()
        return reading.content
    }

    private mutating func run() async throws(TidelogError) {
        do {
            let end = try store.bounds(of: ExportRange(to: point)).upperBound
            let outcomes = try outcomes(before: end)
            try readRows(outcomes, before: end)
            content.statistics = try store.history.statistics()
        } catch {
            throw inspectionError(error, store.files.log)
        }
        await readState()
        content.entities = mentioned.sorted().map { ($0, sets.set(of: $0) ?? "", names[$0] ?? "") }
        content.leaveOutLargeNumbers()
        describe()
    }

    private var names: [EntityID: String] = [:]

    // MARK: Records

    /// Reads the outcomes, and the number of records from which the newest are determined.
    private func outcomes(before bound: SequenceNumber) throws(LogError) -> (
        outcomes: OperationOutcomes, end: SequenceNumber
    ) {
        var outcomes = OperationOutcomes()
        var end: SequenceNumber = 0
        let items = store.history.items()
        while let item = try items.next(), item.sequence < bound {
            outcomes.apply(item)
            end = max(end, item.sequence)
        }
        return (outcomes, end)
    }

    private mutating func readRows(
        _ known: (outcomes: OperationOutcomes, end: SequenceNumber), before bound: SequenceNumber
    ) throws(LogError) {
        let first = known.end > UInt64(clamping: limits.records) ? known.end - UInt64(clamping: limits.records) + 1 : 0
        if first > 0 {
            content.notices.append("The report shows the newest \(limits.records) records, from #\(first) on.")
        }
        let items = store.history.items()
        while let item = try items.next(), item.sequence < bound {
            switch item {
            case .entry(let entry):
                if entry.sequence >= first { add(entry, known.outcomes) }
            case .carried(let entry, _, _): add(entry, known.outcomes)
            case .damage(let damage, _):
                content.isDamaged = true
                addNotice(damage.sequence, "damage", damage.description)
            case .lost(let range):
                addNotice(range.lowerBound, "lost", "records up to #\(range.upperBound), lost by damage")
            case .undecodable(let sequence, let kind, let reason):
                content.isDamaged = true
                addNotice(sequence, "undecodable", "a record of kind \(kind) that cannot be read: \(reason)")
            case .compacted(let sequence, let next):
                content.notices.append(
                    "A compaction removed the records before #\(next); operations that had not ended are shown.")
                _ = sequence
            }
        }
        sets = items.sets
        // Items from a snapshot precede the log's records, and the lists need ascending numbers.
        content.rows.sort { $0.sequence < $1.sequence }
    }

    private mutating func addNotice(_ sequence: SequenceNumber, _ kind: String, _ text: String) {
        // The list looks up records by their numbers.
        guard content.rows.last?.sequence != sequence else { return }
        content.rows.append(
            .init(
                sequence: sequence, time: nil, kind: kind, outcome: "", action: "",
                text: RecordSummary.oneLine(text, limit: 400), entities: []))
    }

    private mutating func add(_ entry: HistoryEntry, _ outcomes: OperationOutcomes) {
        var entities = entry.entities
        if mentions + entities.count > Self.mentionLimit { entities = Array(entities.prefix(1)) }
        mentions += entities.count
        mentioned.formUnion(entities)
        content.rows.append(
            .init(
                sequence: entry.sequence, time: entry.time, kind: entry.kind,
                outcome: outcomes[entry.sequence]?.name ?? "", action: entry.operation?.actionName ?? "",
                text: entry.summary, entities: entities))
        switch entry.record.body {
        case .batchPrepared(let prepared): prepare(prepared, entry)
        case .batchAnswered(let answered):
            let index = index(of: answered.batch)
            content.batches[index].ended = entry.sequence
            content.batches[index].summary = entry.summary
            if content.batches[index].operations.isEmpty {
                content.batches[index].operations = answered.outcomes.map(\.operation)
            }
            content.batches[index].outcomes = answered.outcomes.compactMap(Self.outcome)
        case .batchInterrupted(let interrupted):
            let index = index(of: interrupted.batch)
            content.batches[index].ended = entry.sequence
            content.batches[index].isInterrupted = true
            content.batches[index].summary = entry.summary
            content.batches[index].reason = interrupted.reason
        default: break
        }
    }

    private mutating func index(of batch: BatchID) -> Int {
        if let index = batchIndexes[batch] { return index }
        batchIndexes[batch] = content.batches.count
        content.batches.append(.init(id: batch))
        return content.batches.count - 1
    }

    private mutating func prepare(_ prepared: BatchPrepared, _ entry: HistoryEntry) {
        let index = index(of: prepared.batch)
        content.batches[index].prepared = entry.sequence
        content.batches[index].operations = prepared.operations
        content.batches[index].summary = entry.summary
        guard !prepared.sent.isEmpty else { return }
        content.batches[index].note = "The bytes that were sent, without credentials."
        content.batches[index].requests = prepared.sent.flatMap { $0 }.map { request in
            .init(
                method: request.method, url: request.url,
                headers: request.headers.map { "\($0.name): \($0.value)\n" }.joined(),
                body: String(decoding: request.body, as: UTF8.self))
        }
    }

    private static func outcome(_ outcome: BatchAnswered.Outcome) -> ReportContent.Outcome? {
        let reason: String? = if case .inDoubt(let reason) = outcome.result { reason } else { nil }
        if case .confirmed = outcome.result { return nil }
        return .init(
            operation: outcome.operation, result: outcome.result.name, refusal: outcome.result.refusal, reason: reason)
    }

    // MARK: State

    /// Reads the content that only the state has. If the state cannot be built, the report is generated without it.
    private mutating func readState() async {
        do {
            let past = try await store.past(at: point ?? .sequence(.max))
            content.conflicts = try await past.store.conflicts.all()
            content.errors = try await past.store.queue.errorArchive()
            for entry in try await past.store.keyMap() where names[entry.entity] == nil {
                names[entry.entity] = Self.short(entry.key)
            }
            if let version = try? await past.store.model.version {
                content.facts.append(("OData", version.rawValue))
            }
            await past.store.close()
        } catch {
            content.notices.append("Conflicts, errors and keys are missing: \(error.message)")
        }
        content.conflicts = first(Self.shownConflicts, of: content.conflicts, "conflicts")
        content.errors = first(Self.shownErrors, of: content.errors, "entries of the error archive")
        rebuildBatches()
    }

    /// Rebuilds the batches whose requests the log does not contain.
    private mutating func rebuildBatches() {
        let missing = content.batches.indices.filter { content.batches[$0].requests.isEmpty }
        guard !missing.isEmpty, let last = missing.compactMap({ content.batches[$0].prepared }).max() else { return }
        for index in missing { content.batches[index].note = "The log does not contain the bytes of this batch." }
        do throws(TidelogError) {
            try Replay(store).advance(through: last) { [indexes = batchIndexes] batch, _ in
                guard let index = indexes[batch.batch], content.batches[index].requests.isEmpty,
                    !batch.requests.isEmpty
                else { return }
                content.batches[index].requests = batch.requests.compactMap(\.wire).map(ReportContent.Request.init)
                content.batches[index].note = batch.note
            }
        } catch {
            content.notices.append("Batches could not be rebuilt: \(error.message)")
        }
    }

    private mutating func first<T>(_ limit: Int, of list: [T], _ what: String) -> [T] {
        guard list.count > limit else { return list }
        content.notices.append("The first \(limit) of \(list.count) \(what) are shown.")
        return Array(list.prefix(limit))
    }

    /// Returns `75` for `CustomerID=75`. A key of several properties is unchanged.
    private static func short(_ key: String) -> String {
        guard let equals = key.firstIndex(of: "=") else { return key }
        let value = key[key.index(after: equals)...]
        return value.hasPrefix("'") || !value.contains("=") ? String(value) : key
    }

    // MARK: Facts

    /// Returns a time such as `2026-11-21 07:43:17 UTC`.
    private static func plain(_ time: String) -> String {
        time.prefix(19).replacing("T", with: " ") + " UTC"
    }

    private mutating func describe() {
        let root = (try? StoreDescription.read(store.files))??.serviceRoot ?? ""
        let host = root.split(separator: "/", omittingEmptySubsequences: true).dropFirst().first.map(String.init)
        let times = content.rows.lazy.compactMap(\.time)
        var facts: [(label: String, value: String)] = []
        if let host { facts.append(("Service", host)) }
        if let reader = try? store.reader() {
            facts.append(("Store", String(reader.storeIdentifier.description.prefix(8))))
        }
        if let first = content.rows.first?.sequence, let last = content.rows.last?.sequence {
            facts.append(("Records", "#\(first) to #\(last)"))
        }
        if let first = times.min().flatMap(iso8601), let last = times.max().flatMap(iso8601) {
            facts.append(("First record", Self.plain(first)))
            facts.append(("Last record", Self.plain(last)))
            content.subtitle = "\(host.map { $0 + " · " } ?? "")\(first.prefix(10)) to \(last.prefix(10))"
        }
        if let size = content.statistics?.size {
            facts.append(("Log", "\(size.records) records in \(size.fileBytes) bytes"))
            if let ratio = size.ratio {
                facts.append(
                    ("Compression", "\(Int((ratio * 10).rounded()) / 10).\(Int((ratio * 10).rounded()) % 10) times"))
            }
        }
        facts.append(("Log format", "version \(store.isEncrypted ? LogFormat.encryptedVersion : LogFormat.version)"))
        if store.isEncrypted { facts.append(("Encrypted", "yes; this page is not encrypted")) }
        content.facts = facts + content.facts
        if isRedacted {
            content.notices.insert("Values are redacted: only their equality and order are preserved.", at: 0)
        }
        if content.isDamaged {
            content.notices.insert("The log is damaged; the report shows the readable records.", at: 0)
        }
    }
}

extension ReportContent.Request {
    fileprivate init(_ request: WireRequest) {
        self.init(
            method: request.method, url: request.url,
            headers: request.headers.fields.map { "\($0.name): \($0.value)\n" }.joined(),
            body: String(decoding: request.body, as: UTF8.self))
    }
}

extension ReplayedBatch {
    fileprivate var note: String {
        switch comparison {
        case .identical: "Rebuilt from the log before it: identical to the bytes that were sent, without credentials."
        case .different: "Rebuilt from the log before it. It DIFFERS from the bytes that were sent."
        case .unknown, .unbuildable:
            "Rebuilt from the log before it; the log does not contain the bytes that were sent."
        }
    }
}
