import EDM
import Operations
import SyncCore

extension Operation {
    /// Returns the images of new entities at the time when the operation took effect, as far as they can be
    /// reconstructed: the key and the sent values. They precede the current images, which other clients may have
    /// changed since.
    ///
    /// - Parameters:
    ///   - created: The new entities.
    ///   - read: The service's current versions.
    func imagesAsSent(
        to created: [EntityID], _ read: [EntityImage], _ model: EntityDataModel
    ) -> [EntityImage] {
        // The declared effect was not sent.
        guard call == nil else { return [] }
        let sent: PropertyValues
        switch action {
        case .create(let creation, _): sent = creation.values
        case .update(_, let changes, _): sent = changes
        case .delete, .createLink, .updateLink, .deleteLink: return []
        }
        guard created.contains(subject), let now = read.first(where: { $0.entity == subject }) else { return [] }
        var values = sent
        for key in model.findEntityType(now.type)?.keyProperties ?? [] {
            if let value = now.values[key.name] { values[key.name] = value }
        }
        return [EntityImage(entity: now.entity, set: now.set, type: now.type, values: values)]
    }
}
