import EDM
import ODataWire
import Operations
import SyncEngine

/// The operations of the app.
extension Simulation {
    /// Performs one call: an operation, or a change set.
    func edit(_ device: Device) async {
        guard !device.hasCrashed else { return }
        if recorder != nil { return await HistoryApp(device: device).change(in: self) }
        if random.chance(habits.entityDrafts) { return await call(.draft, device) }
        if random.chance(habits.replacements) { return await call(.replacement, device) }
        let isChangeSet = random.chance(15)
        let delivery = habits.delivery(&random)
        var calls: [(intent: Intent, options: IntentOptions)] = []
        for number in 0..<(isChangeSet ? 2 + random.below(2) : 1) {
            if random.chance(habits.clientOnly), let order = any("Orders", device) {
                let values: PropertyValues = [FieldService.clientOnly: .string(device.name("p"))]
                calls.append(
                    (
                        .update(order, changes: values, bindings: [], inline: []),
                        IntentOptions(customTag: device.name("t"))
                    ))
                continue
            }
            if let intent = random.chance(habits.calls) ? await call(device) : intent(device, draft: number * 10) {
                calls.append((intent, habits.options(device.name("t"), delivery, &random)))
            }
        }
        guard !calls.isEmpty else { return }
        addTrace("d\(device.number) \(calls.map { $0.intent.text + $0.options.text })")
        do throws(TidelogError) {
            let results = try await device.store.perform(calls, asChangeSet: isChangeSet)
            counts.operations += results.count
            for (call, result) in zip(calls, results) {
                // A deletion may already be part of an operation in the same change set, and deleting an entity that
                // the service has never seen is an undo.
                if result.sequence != nil, !mayBeUndo(call.intent), let tag = call.options.customTag {
                    device.acknowledged.insert(tag)
                }
                if !isChangeSet { check(call.intent, result) }
                rememberIDs(result, device)
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
                counts.refusedLocally += 1
                addTrace("refused: \(error.message)")
            default:
                if !device.hasCrashed { violated("d\(device.number): an edit fails: \(error)") }
            }
        }
    }

    /// Performs a call of `DataService`.
    private func call(_ call: DeviceApp.Call, _ device: Device) async {
        await device.app.perform(call, device, root: root)
        addFindings(of: device)
    }

    func addFindings(of device: Device) {
        let report = device.app.takeReport()
        for line in report.lines { addTrace(line) }
        counts.add(report)
        for violation in report.violations where !device.hasCrashed { violated(violation) }
    }

    private func mayBeUndo(_ intent: Intent) -> Bool {
        if case .delete = intent { habits.undoesLocalCreation } else { false }
    }

    /// Checks that a local change is visible immediately. In a change set, a later operation may have changed it again.
    private func check(_ intent: Intent, _ result: IntentResult) {
        guard case .update(_, let changes, _, _) = intent, let seen = result.entities[IntentResult.subject] else {
            return
        }
        for (name, value) in changes where seen.values[name] != value {
            violated(
                "The store does not show an update of \(name) to \(value); it shows \(String(describing: seen.values[name]))."
            )
        }
    }

    private func rememberIDs(_ result: IntentResult, _ device: Device) {
        for (number, entity) in result.entities.sorted(by: { $0.key < $1.key }) where number != IntentResult.subject {
            device.links[entity.set, default: []].append(entity.readLink)
        }
    }

    /// Updates the readLinks that the device's user sees.
    func refresh(_ device: Device) async throws(TidelogError) {
        for set in FieldService.sets {
            device.links[set] = try await device.store.query(set).entities.map(\.readLink).sorted()
        }
    }

    // MARK: Intents

    /// Returns a call of an action. In V4, half of the calls are bound to an order and declare their effect on it.
    private func call(_ device: Device) async -> Intent? {
        guard let model = try? await device.store.model else { return nil }
        let mark = ActionDraft.Argument("mark", .value(.string(device.name("m"))))
        guard !version.isLegacy, random.chance(50) else {
            let found = try? model.invokedOperation("AddLabel", parameters: ["mark"])
            return found.map { .invoke(ActionDraft($0, [mark])) }
        }
        guard let order = any("Orders", device) else { return nil }
        let type = TypeReference(.entity(name: "Field.Order"))
        let remark = Value.string(device.name("v"))
        let found = try? model.invokedOperation("Field.Annotate", on: type, parameters: ["mark", "remark"])
        return found.map {
            .invoke(
                ActionDraft(
                    $0, on: .init(.entity(order), set: model.findEntitySet("Orders")),
                    [mark, .init("remark", .value(remark))],
                    effect: .update(order, changes: ["Remark": remark], bindings: [])))
        }
    }

    private func intent(_ device: Device, draft number: Int) -> Intent? {
        let set = FieldService.sets[random.below(FieldService.sets.count)]
        switch random.below(100) {
        case 0..<40: return .create(draft(set, number, device), in: nil)
        case 40..<46:
            guard let order = any("Orders", device) else { return nil }
            return .create(
                EntityDraft(number: number, set: "Items", type: "Field.Item", values: values(device)),
                in: Intent.Parent(entity: order, navigation: "Items"))
        case 46..<74:
            let set = FieldService.editable[random.below(FieldService.editable.count)]
            guard let entity = any(set, device) else { return nil }
            var changes: PropertyValues = [:]
            if random.chance(60) { changes["Note"] = .string(device.name("v")) }
            if random.chance(40) || changes.isEmpty { changes["Remark"] = .string(device.name("v")) }
            return .update(entity, changes: changes, bindings: [], inline: [])
        case 74..<82:
            guard let entity = any(set, device) else { return nil }
            return .delete(entity)
        case 82..<90:
            guard let customer = any("Customers", device), let label = any("Labels", device) else { return nil }
            return random.chance(65)
                ? .createLink(from: customer, navigation: "Labels", to: label)
                : .deleteLink(from: customer, navigation: "Labels", to: label)
        default:
            guard let order = any("Orders", device), let customer = any("Customers", device) else { return nil }
            return random.chance(75)
                ? .updateLink(from: order, navigation: "Customer", to: customer)
                : .deleteLink(from: order, navigation: "Customer", to: customer)
        }
    }

    private func any(_ set: String, _ device: Device) -> EntityAddress? {
        guard let links = device.links[set], !links.isEmpty else { return nil }
        return .link(links[random.below(links.count)])
    }

    private func values(_ device: Device) -> PropertyValues {
        var values: PropertyValues = ["Mark": .string(device.name("m"))]
        if random.chance(30) { values["Note"] = .string(device.name("v")) }
        return values
    }

    private func draft(_ set: String, _ number: Int, _ device: Device) -> EntityDraft {
        var draft = EntityDraft(number: number, set: set, type: FieldService.type(of: set), values: values(device))
        switch set {
        case "Visits":
            draft.values["VisitID"] = .guid(GuidValue(high: random.next(), low: random.next()))
        case "Orders":
            if random.chance(50), let customer = any("Customers", device) {
                draft.bindings.append(BindingDraft(navigation: "Customer", targets: [customer]))
            }
            if random.chance(20) {
                let items = (0...random.below(2)).map {
                    EntityDraft(number: number + 1 + $0, set: "Items", type: "Field.Item", values: values(device))
                }
                draft.inline.append(InlineDraft(navigation: "Items", entities: items))
            }
        case "Items":
            if let order = any("Orders", device) {
                draft.bindings.append(BindingDraft(navigation: "Order", targets: [order]))
            }
        case "Customers":
            if random.chance(25), let label = any("Labels", device) {
                draft.bindings.append(BindingDraft(navigation: "Labels", targets: [label]))
            }
        default: break
        }
        return draft
    }
}
