import Operations

/// Properties of the requests that an operation leads to.
extension Operation {
    /// Whether the request may contain the ETag of an entity, which depends on the earlier requests of the change set.
    var maySendETag: Bool {
        if call != nil { return true }
        return switch action {
        case .update, .delete: true
        case .create, .createLink, .updateLink, .deleteLink: false
        }
    }

    /// Whether the request itself contains the ETag of the entity.
    func sendsETag(of entity: EntityID?) -> Bool { maySendETag && subject == entity }

    /// Whether the operation creates entities below another new one.
    var hasNestedCreation: Bool {
        if case .create(let creation, _) = action { !creation.inline.isEmpty } else { false }
    }
}
