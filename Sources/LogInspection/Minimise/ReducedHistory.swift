import EDM
import OfflineStore
import Operations

/// The part of a log that is kept: some of its records, without some of their parts.
struct ReducedHistory: Sendable {
    /// A downloaded entity, one of its properties, or a property value of an operation.
    enum OmittedPart: Hashable, Sendable {
        case image(SequenceNumber, EntityID)
        case property(SequenceNumber, EntityID, String)
    }

    /// The records in order.
    var records: [SequenceNumber]
    var without: Set<OmittedPart> = []

    /// Returns the record without the omitted parts.
    func reduced(_ body: Record.Body, at sequence: SequenceNumber) -> Record.Body {
        guard !without.isEmpty else { return body }
        switch body {
        case .downloadPage(var page):
            page.entities = page.entities.compactMap { reduced($0, at: sequence) }
            return .downloadPage(page)
        case .entitiesRead(let images): return .entitiesRead(images.compactMap { reduced($0, at: sequence) })
        case .operation(var operation):
            switch operation.action {
            case .create(var creation, let parent):
                cut(&creation.values, creation.entity, sequence)
                operation.action = .create(creation, parent: parent)
            case .update(let entity, var changes, let bindings):
                cut(&changes, entity, sequence)
                operation.action = .update(entity, changes: changes, bindings: bindings)
            case .delete, .createLink, .updateLink, .deleteLink: break
            }
            return .operation(operation)
        default: return body
        }
    }

    private func reduced(_ image: EntityImage, at sequence: SequenceNumber) -> EntityImage? {
        guard !without.contains(.image(sequence, image.entity)) else { return nil }
        var image = image
        cut(&image.values, image.entity, sequence)
        return image
    }

    private func cut(_ values: inout PropertyValues, _ entity: EntityID, _ sequence: SequenceNumber) {
        for name in values.names where without.contains(.property(sequence, entity, name)) { values[name] = nil }
    }

    // MARK: Parts

    /// Returns the entities of the record.
    static func images(_ body: Record.Body, at sequence: SequenceNumber) -> [OmittedPart] {
        switch body {
        case .downloadPage(let page): page.entities.map { .image(sequence, $0.entity) }
        case .entitiesRead(let images): images.map { .image(sequence, $0.entity) }
        default: []
        }
    }

    /// Returns the properties with values in the record, except keys.
    static func properties(
        _ body: Record.Body, at sequence: SequenceNumber, isKey: (String, String) -> Bool
    ) -> [OmittedPart] {
        func parts(_ values: PropertyValues, _ entity: EntityID, _ type: String) -> [OmittedPart] {
            values.names.filter { !isKey(type, $0) }.map { .property(sequence, entity, $0) }
        }
        switch body {
        case .downloadPage(let page): return page.entities.flatMap { parts($0.values, $0.entity, $0.type) }
        case .entitiesRead(let images): return images.flatMap { parts($0.values, $0.entity, $0.type) }
        case .operation(let operation):
            switch operation.action {
            case .create(let creation, _): return parts(creation.values, creation.entity, creation.type)
            case .update(let entity, let changes, _): return changes.count > 1 ? parts(changes, entity, "") : []
            case .delete, .createLink, .updateLink, .deleteLink: return []
            }
        default: return []
        }
    }
}
