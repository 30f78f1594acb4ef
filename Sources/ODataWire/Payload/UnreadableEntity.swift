internal import EDM

/// An item of a collection that is well-formed JSON but cannot be read as an entity of the collection's type.
///
/// It has a value that is invalid for its property or a type that does not fit, or it is too large to be read.
package struct UnreadableEntity: Sendable, Hashable {
    /// The reason, with the path of the error below the item.
    package var error: PayloadError
    /// The readable identification of the entity: key, links, type and set.
    package var entity: EntityPayload
    /// The unreadable value as JSON, shortened to ``textLimit``. Empty if the item is too large.
    package var text: String
    /// Whether the item contains other entities, which were not read.
    package var hasExpanded: Bool

    /// The maximum length of ``text`` in Unicode scalars.
    package static let textLimit = 200

    package init(error: PayloadError, entity: EntityPayload = EntityPayload(), text: String, hasExpanded: Bool = false)
    {
        self.error = error
        self.entity = entity
        self.text = text
        self.hasExpanded = hasExpanded
    }
}

extension UnreadableEntity {
    /// Returns the beginning of a text, up to the maximum length.
    package static func shortened(_ text: String) -> String {
        let head = text.unicodeScalars.prefix(textLimit)
        return String(String.UnicodeScalarView(head)) + (head.endIndex < text.endIndex ? "…" : "")
    }
}
