import EDM
import OfflineStore
import Operations

/// The user of a device, who changes data.
struct DeviceUser {
    let device: Device

    /// Performs one call: an operation, or a change set.
    func edit(in run: isolated Simulation) async {
        guard !device.hasCrashed else { return }
        if run.recorder != nil { return await HistoryApp(device: device).change(in: run) }
        if run.linkedCreations.isNext() { return await createLinked(in: run) }
        if run.random.chance(run.habits.entityDrafts) { return await call(.draft, in: run) }
        if run.random.chance(run.habits.replacements) { return await call(.replacement, in: run) }
        let isChangeSet = run.random.chance(15)
        let delivery = run.habits.delivery(&run.random)
        var calls: [(intent: Intent, options: IntentOptions)] = []
        for number in 0..<(isChangeSet ? 2 + run.random.below(2) : 1) {
            if run.random.chance(run.habits.clientOnly), let order = generate({ $0.any("Orders") }, in: run) {
                let values: PropertyValues = [FieldService.clientOnly: .string(device.name("p"))]
                calls.append(
                    (
                        .update(order, changes: values, bindings: [], inline: []),
                        IntentOptions(customTag: device.name("t"))
                    ))
                continue
            }
            if let intent = run.random.chance(run.habits.calls)
                ? await actionCall(in: run) : generate({ $0.change(draft: number * 10) }, in: run)
            {
                calls.append((intent, run.habits.options(device.name("t"), delivery, &run.random)))
            }
        }
        guard !calls.isEmpty else { return }
        await perform(calls, asChangeSet: isChangeSet, in: run)
    }

    /// Creates two linked entities in one change set.
    private func createLinked(in run: isolated Simulation) async {
        let delivery = run.habits.delivery(&run.random)
        let calls = run.linkedCreations.calls(of: device).map {
            (intent: $0, options: run.habits.options(device.name("t"), delivery, &run.random))
        }
        run.counts.add(1, .linkedCreations)
        await perform(calls, asChangeSet: true, in: run)
    }

    private func perform(
        _ calls: [(intent: Intent, options: IntentOptions)], asChangeSet isChangeSet: Bool,
        in run: isolated Simulation
    ) async {
        run.addTrace("d\(device.number) \(calls.map { $0.intent.text + $0.options.text })")
        do throws(TidelogError) {
            let results = try await device.store.perform(calls, asChangeSet: isChangeSet)
            run.counts.operations += results.count
            for (call, result) in zip(calls, results) {
                // A deletion may already be part of an operation in the same change set, and deleting an entity that
                // the service has never seen is an undo.
                if result.sequence != nil, !mayBeUndo(call.intent, in: run), let tag = call.options.customTag {
                    device.acknowledged.insert(tag)
                }
                if !isChangeSet { check(call.intent, result, in: run) }
                rememberIDs(result)
                if case .update(_, let changes, _, _) = call.intent, let value = changes[FieldService.clientOnly],
                    let id = result.entities[IntentResult.subject]?.entityID
                {
                    // A conflict of another member undoes the whole change set.
                    device.clientOnly[id] = isChangeSet ? nil : value
                }
            }
        } catch {
            // The operation may be in the log although the call failed.
            device.clientOnly = [:]
            switch error.code {
            case .refused, .notFound, .invalidRequest:
                run.counts.refusedLocally += 1
                run.addTrace("refused: \(error.message)")
            default:
                if !device.hasCrashed { run.violated("d\(device.number): an edit fails: \(error)") }
            }
        }
    }

    /// Draws with the random numbers of the run.
    private func generate<T>(_ draw: (inout IntentGenerator) -> T, in run: isolated Simulation) -> T {
        var generator = IntentGenerator(device: device, version: run.version, random: run.random)
        defer { run.random = generator.random }
        return draw(&generator)
    }

    private func actionCall(in run: isolated Simulation) async -> Intent? {
        guard let model = try? await device.store.model else { return nil }
        return generate({ $0.call(model) }, in: run)
    }

    /// Performs a call of `DataService`.
    private func call(_ call: DeviceApp.Call, in run: isolated Simulation) async {
        await device.app.perform(call, device, root: run.root)
        addFindings(in: run)
    }

    func addFindings(in run: isolated Simulation) {
        let report = device.app.takeReport()
        for line in report.lines { run.addTrace(line) }
        run.counts.add(report)
        for violation in report.violations where !device.hasCrashed { run.violated(violation) }
    }

    private func mayBeUndo(_ intent: Intent, in run: isolated Simulation) -> Bool {
        if case .delete = intent { run.habits.undoesLocalCreation } else { false }
    }

    /// Checks that a local change is visible immediately. In a change set, a later operation may have changed it again.
    private func check(_ intent: Intent, _ result: IntentResult, in run: isolated Simulation) {
        guard case .update(_, let changes, _, _) = intent, let seen = result.entities[IntentResult.subject] else {
            return
        }
        for (name, value) in changes where seen.values[name] != value {
            run.violated(
                "The store does not show an update of \(name) to \(value); it shows \(String(describing: seen.values[name]))."
            )
        }
    }

    private func rememberIDs(_ result: IntentResult) {
        let entities = result.entities.all.sorted { $0.number < $1.number }
        for (number, entity) in entities where number != IntentResult.subject {
            device.links[entity.set, default: []].append(entity.readLink)
        }
    }

    /// Updates the readLinks that the device's user sees.
    func refresh(isolation: isolated (any Actor)? = #isolation) async throws(TidelogError) {
        for set in FieldService.sets {
            device.links[set] = try await device.store.query(set).entities.map(\.readLink).sorted()
        }
    }
}
