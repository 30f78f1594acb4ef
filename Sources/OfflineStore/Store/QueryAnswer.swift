package import EDM
import Operations

/// The result of a query.
package struct QueryAnswer: Sendable, Hashable {
    package var entities: [EntitySnapshot]
    /// The number of matching entities without `$top` and `$skip`, if the query requested it.
    package var count: Int64?
    /// A Boolean value that indicates whether the path leads to at most one entity.
    package var isSingle: Bool
    /// The form of the result, which depends on the path.
    package var form: AnswerForm
    /// The query for the next page, relative to the service root; nil on the last page. It stays valid as long as the
    /// store exists, because it contains the last entity of the page instead of an offset.
    package var nextLink: String?
    /// The URL of the changes since this result, if the service tracks them; nil for a store.
    package var deltaLink: String?
    /// The links of the entities that a delta reports as removed from the result.
    package var removed: [String] = []

    package enum AnswerForm: Sendable, Hashable {
        /// The result is in ``QueryAnswer/entities``. Rows of `$apply` have an empty `readLink` and no `entityID`.
        case entities
        /// References (`$ref`, `$links`): the `readLink`s of ``QueryAnswer/entities``, which have no values.
        case references
        /// Combinations of entities (`$crossjoin`): each of ``QueryAnswer/entities`` has no values, and its expanded
        /// entities by the name of their set.
        case joined
        /// Only ``QueryAnswer/count``.
        case count
        /// The value of a property. The type is the declared one, or nil for a dynamic property.
        case value(Value, TypeReference?)
        /// The raw value of `$value`: the text that a service would send, or the bytes for `Edm.Binary`. For null the
        /// query fails with `notFound`.
        case rawValue(Value)
    }

    package init(
        entities: [EntitySnapshot], count: Int64? = nil, isSingle: Bool = false, form: AnswerForm = .entities,
        nextLink: String? = nil
    ) {
        self.entities = entities
        self.count = count
        self.isSingle = isSingle
        self.form = form
        self.nextLink = nextLink
    }
}
