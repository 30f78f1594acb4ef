import EDM
import OfflineStore
import Operations
import Tidelog

/// The user's work on drafts of entities.
extension DeviceApp {
    func workOnDraft(_ device: Device, _ service: DataService) async throws(TidelogError) {
        let known = drafts.identifiers
        if known.isEmpty || random.chance(20) {
            if random.chance(70) { try await copy(device, service) } else { try await create(device, service) }
        } else {
            let chosen = known[random.below(known.count)]
            switch random.below(100) {
            case 0..<40: try await edit(chosen, device, service)
            case 40..<80: try await activate(chosen, device, service)
            default: try await discard(chosen, device, service)
            }
        }
        report.operations += 1
        try await verifyDrafts(device)
    }

    // MARK: Making

    /// Copies an order, often with its items, or a visit.
    private func copy(_ device: Device, _ service: DataService) async throws(TidelogError) {
        let isOrder = random.chance(70)
        guard let link = any(isOrder ? "Orders" : "Visits", device) else { return }
        let entity = try await load(link, service)
        let hasChildren = isOrder && random.chance(60)
        let items = hasChildren ? try await device.store.query("\(link)/Items").entities : []
        note("copies \(link) with \(items.count) children")
        let before = try await DeviceDrafts.stored(in: device.store)
        let children = hasChildren ? [try property("Items", of: "Field.Order", service)] : []
        let draft = try await entity.makeDraftCopy(in: service, children: children)
        let made = try await DeviceDrafts.stored(in: device.store).filter { before[$0.key] == nil }
        guard let id = draft.entityID else { return violated("has a draft of \(link) without an ID") }
        expect(id, FieldService.draft(of: isOrder ? "Orders" : "Visits"), Self.texts(of: entity), entity.entityID)
        var left = items
        for (child, copy) in made.sorted(by: { $0.key < $1.key }) where child != id {
            guard let index = left.firstIndex(where: { FieldService.texts($0.values) == copy.texts }) else { continue }
            let origin = left.remove(at: index)
            expect(child, "ItemDrafts", copy.texts, origin.entityID, in: id)
        }
        if !left.isEmpty { violated("has copied \(items.count - left.count) of \(items.count) children of \(link)") }
        count(.draftCopies)
    }

    private func expect(
        _ id: EntityID, _ set: String, _ texts: [String: String], _ origin: EntityID?, in parent: EntityID? = nil,
        written: Set<String> = []
    ) {
        drafts[id] = DeviceDrafts.Draft(set: set, parent: parent, texts: texts, origin: origin, written: written)
    }

    /// Creates a draft of a new order, sometimes with an item.
    private func create(_ device: Device, _ service: DataService) async throws(TidelogError) {
        let id = try await createDraft("OrderDrafts", in: nil, device, service)
        count(.newDrafts)
        if random.chance(50), let id {
            let order = try await load("OrderDrafts(~\(id.rawValue))", service)
            _ = try await createDraft("ItemDrafts", in: order, device, service)
        }
    }

    private func createDraft(
        _ set: String, in parent: EntityValue?, _ device: Device, _ service: DataService
    ) async throws(TidelogError) -> EntityID? {
        let model = try service.metadata
        guard let drafts = model.findEntitySet(set) else { return nil }
        let draft = EntityValue(drafts.entityType)
        draft.entitySet = drafts
        let texts = ["Mark": device.name("n"), "Note": device.name("w")]
        for (name, text) in texts.sorted(by: { $0.key < $1.key }) { draft[name] = .string(text) }
        note("creates in \(set): \(texts.values.sorted())")
        if let parent {
            let items = try property("Items", of: "Field.Order", service)
            try await service.createRelatedEntity(draft, in: parent, property: items)
        } else {
            try await service.createEntity(draft)
        }
        guard let id = draft.entityID else { return nil }
        expect(id, set, texts, nil, in: parent?.entityID, written: Set(texts.values))
        return id
    }

    // MARK: Changing

    private func edit(_ id: EntityID, _ device: Device, _ service: DataService) async throws(TidelogError) {
        guard var draft = drafts[id] else { return }
        let entity = try await load(Self.link(id, draft), service)
        count(.draftEdits)
        if draft.set == "OrderDrafts", random.chance(15) {
            _ = try await createDraft("ItemDrafts", in: entity, device, service)
            return
        }
        // A restored draft gets new values only, because the service may already have its other ones.
        let names = draft.isRestored || random.chance(30) ? Ledger.texts : [Ledger.texts[random.below(2)]]
        for name in names {
            if random.chance(12) {
                entity[name] = .null
                draft.texts[name] = nil
            } else {
                let text = device.name("w")
                entity[name] = .string(text)
                draft.texts[name] = text
                draft.written.insert(text)
            }
        }
        note("changes draft \(id): \(names.map { "\($0)=\(draft.texts[$0] ?? "null")" })")
        try await service.updateEntity(entity)
        drafts[id] = draft
    }

    static func link(_ id: EntityID, _ draft: DeviceDrafts.Draft) -> String { "\(draft.set)(~\(id.rawValue))" }

    // MARK: Ending

    /// Activates a draft with its children, unless an undo has restored one of them.
    private func activate(_ id: EntityID, _ device: Device, _ service: DataService) async throws(TidelogError) {
        guard let draft = drafts[id] else { return }
        let tree = [id] + drafts.children(of: id)
        guard draft.parent == nil || draft.origin != nil,
            tree.allSatisfy({ drafts[$0]?.isRestored == false })
        else { return }
        note("activates \(tree)")
        let entity = try await load(Self.link(id, draft), service).activateDraft(in: service)
        count(.activations)
        drafts.removeTree(id)
        if let origin = draft.origin, entity.entityID != origin {
            violated("has made \(String(describing: entity.entityID)) of a draft of \(origin)")
        }
        let texts = Self.texts(of: entity)
        for (name, text) in draft.texts where draft.written.contains(text) && texts[name] != text {
            violated("shows \(name)=\(texts[name] ?? "null") after the activation of \(text)")
        }
    }

    private func discard(_ id: EntityID, _ device: Device, _ service: DataService) async throws(TidelogError) {
        guard let draft = drafts[id] else { return }
        note("discards draft \(id)")
        try await service.deleteEntity(try await load(Self.link(id, draft), service))
        count(.discardedDrafts)
        drafts.removeTree(id)
    }
}
