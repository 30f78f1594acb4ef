import EDM
import ODataWire
import OfflineStore

/// One request of a modification, before it is written.
package struct OnlineStep: Sendable {
    package var modification: DataModification
    /// The identifier of the request within its change set.
    package var contentID: String
    /// The number of the intent within the call.
    package var intent: Int
    /// The new entity, if the request creates one.
    package var creation: OnlineCreation?
    /// The bytes of the body, for a stream.
    package var content: LocalStream?
}

/// A new entity of a request, with the new entities that the body contains.
package struct OnlineCreation: Sendable {
    package var draft: Int
    package var set: String
    package var type: String
    package var values: PropertyValues
    /// In the order of ``EntityBody/inline``.
    package var below: [Level] = []

    package struct Level: Sendable {
        package var navigation: Property
        package var entities: [OnlineCreation]
    }

    init(_ draft: EntityDraft) {
        self.draft = draft.number
        set = draft.set
        type = draft.type
        values = draft.values
    }
}

extension OnlineStep {
    /// The body of a create.
    var createdBody: EntityBody? {
        get {
            switch modification.action {
            case .create(_, let body), .createRelated(_, _, let body): body
            case .update, .delete, .link, .unlink, .invoke: nil
            }
        }
        set {
            guard let newValue else { return }
            switch modification.action {
            case .create(let set, _): modification.action = .create(in: set, newValue)
            case .createRelated(let owner, let navigation, _):
                modification.action = .createRelated(in: owner, navigation: navigation, newValue)
            case .update, .delete, .link, .unlink, .invoke: break
            }
        }
    }

    /// Adds a new entity to the body of a create.
    mutating func nest(_ body: EntityBody, _ creation: OnlineCreation, below navigation: Property) {
        guard var own = createdBody else { return }
        if let index = own.inline.firstIndex(where: { $0.navigation == navigation }) {
            own.inline[index].entities.append(body)
            self.creation?.below[index].entities.append(creation)
        } else {
            own.inline.append(EntityBody.InlineEntities(navigation: navigation, entities: [body]))
            self.creation?.below.append(OnlineCreation.Level(navigation: navigation, entities: [creation]))
        }
        createdBody = own
    }
}
