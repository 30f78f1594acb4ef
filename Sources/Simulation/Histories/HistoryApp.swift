import DiskSimulation
import EDM
import OfflineStore
import Operations
import SyncCore

/// The app of runs whose histories are judged by a separate checker: it appends tokens to the texts of shared entities
/// and adds linked entities, and resolves conflicts by keeping both sides.
struct HistoryApp {
    let device: Device

    /// The faults of such a run. A request that arrives after its retry can create an entity a second time, which no
    /// client prevents.
    static let faults = Set(FaultKind.allCases).subtracting([.lateRequest, .repeatedRequest])

    /// Returns the options of a run, without such faults if its history is recorded.
    static func adjusted(_ options: Simulation.Options) -> Simulation.Options {
        guard options.recordsHistory else { return options }
        var adjusted = options
        adjusted.troubles.formIntersection(faults)
        return adjusted
    }

    /// Records the end of a run, if its history is recorded.
    static func end(_ run: isolated Simulation) async {
        guard run.recorder != nil else { return }
        for device in run.devices { await HistoryApp(device: device).end(in: run) }
        run.recorder?.end()
    }

    /// Performs a step of the run.
    func step(in run: isolated Simulation) async {
        switch run.random.below(100) {
        case 0..<50: for _ in 0...run.random.below(3) { await change(in: run) }
        case 50..<70: await DeviceSync(device: device).upload(in: run)
        case 70..<82:
            await DeviceSync(device: device).download(in: run)
            await observe(in: run)
        case 82..<86: run.changeNetwork(of: device)
        case 86..<89: await DeviceProcess(device: device).crash(in: run)
        case 89..<93: run.stopDisk(of: device)
        case 93..<97: await DeviceProcess(device: device).reopen(in: run)
        default: await DeviceProcess(device: device).maintain(in: run)
        }
        await run.restartCrashed()
    }

    /// Appends a token to a list, or adds a linked entity.
    func change(in run: isolated Simulation) async {
        guard !device.hasCrashed else { return }
        let (mark, set, navigation) = HistoryRecorder.registers[run.random.below(HistoryRecorder.registers.count)]
        guard let found = await content(of: mark, set, navigation, in: run) else { return }
        record(found.content, of: mark, found.doubts, in: run)
        let options = IntentOptions(customTag: device.name("t"))
        guard run.random.chance(60) else {
            let token = device.name("m")
            let type = navigation == "Items" ? "Field.Item" : "Field.Order"
            let draft = EntityDraft(number: 0, set: navigation, type: type, values: ["Mark": .string(token)])
            let parent = Intent.Parent(entity: .link(found.link), navigation: navigation)
            return await perform(.create(draft, in: parent), options, "add", mark, token, in: run)
        }
        let token = device.name("v")
        let text = (found.content.list + [token]).joined(separator: " ")
        let update = Intent.update(.link(found.link), changes: ["Note": .string(text)], bindings: [], inline: [])
        await perform(update, options, "append", mark, token, in: run)
    }

    private func perform(
        _ intent: Intent, _ options: IntentOptions, _ kind: String, _ mark: String, _ token: String,
        in run: isolated Simulation
    ) async {
        run.addTrace("d\(device.number) \(kind) \(mark) \(token)")
        do throws(TidelogError) {
            run.counts.operations += try await device.store.perform([(intent, options)], asChangeSet: false).count
            if let tag = options.customTag { device.acknowledged.insert(tag) }
            run.recorder?.call(kind, device.number, mark, token, .ok)
        } catch {
            switch error.code {
            case .refused, .notFound, .invalidRequest:
                run.counts.refusedLocally += 1
                run.recorder?.call(kind, device.number, mark, token, .fail)
            default:
                run.recorder?.call(kind, device.number, mark, token, .info)
                if !device.hasCrashed { run.violated("d\(device.number): an edit fails: \(error)") }
            }
        }
    }

    /// Records what the app sees of all entities.
    func observe(isFinal: Bool = false, in run: isolated Simulation) async {
        guard !device.hasCrashed else { return }
        for (mark, set, navigation) in HistoryRecorder.registers {
            guard let found = await content(of: mark, set, navigation, in: run) else { continue }
            record(found.content, of: mark, found.doubts, isFinal: isFinal, in: run)
        }
    }

    private func record(
        _ content: HistoryRecorder.EntityContent, of mark: String, _ doubts: [String], isFinal: Bool = false,
        in run: isolated Simulation
    ) {
        run.recorder?.read(device.number, mark, content, doubts: doubts, isFinal: isFinal)
    }

    private func content(
        of mark: String, _ set: String, _ navigation: String, in run: isolated Simulation
    ) async -> (content: HistoryRecorder.EntityContent, link: String, doubts: [String])? {
        do throws(TidelogError) {
            let found = try await device.store.query(set + "?$expand=" + navigation).entities.first {
                $0.values["Mark"] == .string(mark)
            }
            guard let found else {
                run.violated("d\(device.number) does not have \(mark).")
                return nil
            }
            let children = found.expanded.flatMap(\.entities).compactMap { $0.values["Mark"]?.stringValue }.sorted()
            // The outcome of an accepted batch is not known either.
            let open =
                try await device.store.queue.pendingOperations(.inDoubt)
                + device.store.queue.pendingOperations(.inFlight)
            let doubts = open.compactMap(\.operation.token)
            let list = HistoryRecorder.tokens(found.values["Note"]?.stringValue)
            return (HistoryRecorder.EntityContent(list: list, children: children), found.readLink, doubts)
        } catch {
            if !device.hasCrashed { run.violated("d\(device.number) cannot be read: \(error)") }
            return nil
        }
    }

    /// Records the final content of the store, and the changes that have not ended.
    private func end(in run: isolated Simulation) async {
        await observe(isFinal: true, in: run)
        let open = (try? await device.store.queue.pendingOperations()) ?? []
        run.recorder?.changes("open", device.number, open.compactMap(\.operation.token))
    }

    /// Records the changes that the user has undone.
    func recordUndone(_ operations: [SequenceNumber], in run: isolated Simulation) async {
        guard let undone = try? await device.store.queue.undoneOperations() else { return }
        let tokens = undone.filter { operations.contains($0.sequence) }.compactMap(\.operation.operation.token)
        run.recorder?.changes("undone", device.number, tokens)
    }

    /// The conflict handling of an app that keeps the tokens of both sides.
    static var keepingBothSides: ConflictHandling {
        ConflictHandling(policy: .merge(overlapping: .ask)) { conflict in
            guard let note = conflict.properties.first(where: { $0.name == "Note" }), note.isOverlapping else {
                return .mine
            }
            let theirs = HistoryRecorder.tokens(note.theirs?.stringValue)
            let own = HistoryRecorder.tokens(note.mine?.stringValue).filter { !theirs.contains($0) }
            // Each value is written once, which the checks of all runs assume.
            guard !own.isEmpty else { return ConflictResolution(.mine, properties: ["Note": .theirs]) }
            let text = (theirs + own).joined(separator: " ")
            return ConflictResolution(.mine, properties: ["Note": .value(.string(text))])
        }
    }
}

extension Operation {
    /// The token that the operation appends, or the mark of the entity that it creates.
    var token: String? {
        switch action {
        case .create(let creation, _): creation.values["Mark"]?.stringValue
        case .update(_, let changes, _): HistoryRecorder.tokens(changes["Note"]?.stringValue).last
        case .delete, .createLink, .updateLink, .deleteLink: nil
        }
    }
}
