import EDM
import OfflineStore
import Operations
import Tidelog

/// Replacements: of all links of a collection, and of all values of an entity.
extension DeviceApp {
    func replace(_ device: Device, _ service: DataService) async throws(TidelogError) {
        if random.chance(50) {
            try await replaceLinks(device, service)
        } else {
            try await replaceValues(device, service)
        }
    }

    /// Replaces the labels of a customer by up to three.
    private func replaceLinks(_ device: Device, _ service: DataService) async throws(TidelogError) {
        guard let link = any("Customers", device) else { return }
        let customer = try await load(link, service)
        var wanted: [EntityValue] = []
        for _ in 0..<random.below(4) {
            guard let label = any("Labels", device) else { continue }
            wanted.append(try await load(label, service))
        }
        let before = try await labels(link, device)
        let after = Set(wanted.compactMap(\.entityID))
        let tag = device.name("t")
        note("replaces the labels of \(link): \(before.sorted()) by \(after.sorted())")
        try await service.replaceLinks(
            from: customer, property: try property("Labels", of: "Field.Customer", service), with: wanted,
            options: RequestOptions(customTag: tag))
        count(.linkReplacements)
        count(.replacedLinks, before.symmetricDifference(after).count)
        report.operations += before.symmetricDifference(after).count
        if before != after { device.acknowledged.insert(tag) }
        let found = try await labels(link, device)
        if found != after { violated("shows the labels \(found.sorted()) of \(link), not \(after.sorted())") }
    }

    private func labels(_ link: String, _ device: Device) async throws(TidelogError) -> Set<EntityID> {
        Set(try await device.store.query("\(link)/Labels").entities.compactMap(\.entityID))
    }

    /// Replaces all values of an entity by those of the object, of which one is new and one may be null.
    private func replaceValues(_ device: Device, _ service: DataService) async throws(TidelogError) {
        let set = FieldService.editable[random.below(FieldService.editable.count)]
        guard let link = any(set, device) else { return }
        let entity = try await load(link, service)
        var texts: [String: String] = [:]
        for name in Ledger.texts {
            let text = random.chance(25) ? nil : device.name("v")
            texts[name] = text
            entity[name] = text.map { .string($0) } ?? .null
        }
        var options = RequestOptions(customTag: device.name("t"))
        options.updateMode = .replace
        note("replaces \(link): \(texts.sorted { $0.key < $1.key })")
        try await service.updateEntity(entity, options: options)
        count(.valueReplacements)
        report.operations += 1
        if let tag = options.customTag { device.acknowledged.insert(tag) }
        let found = Self.texts(of: try await load(link, service))
        for name in Ledger.texts where found[name] != texts[name] {
            violated("shows \(name)=\(found[name] ?? "null") of \(link), not \(texts[name] ?? "null")")
        }
    }
}
