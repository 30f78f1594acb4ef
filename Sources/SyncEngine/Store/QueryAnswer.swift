public import EDM
import Operations

/// The answer to a query.
public struct QueryAnswer: Sendable, Hashable {
    public var entities: [EntitySnapshot]
    /// How many entities match without `$top` and `$skip`, where that was asked for.
    public var count: Int64?
    /// Whether the path leads to one entity at most.
    public var isSingle: Bool
    /// What the path leads to, and so what there is to look at.
    public var form: Form
    /// The query for the next page, relative to the service root; nil on the last one. Good for as long as the store
    /// is: it names the entity that the page ended with, and does not count.
    public var nextLink: String?

    public enum Form: Sendable, Hashable {
        /// ``QueryAnswer/entities``. Rows that `$apply` made are among them, with an empty `readLink` and no
        /// `entityID`.
        case entities
        /// Links (`$ref`, `$links`): the `readLink`s of ``QueryAnswer/entities``, which have no values.
        case references
        /// ``QueryAnswer/count`` alone.
        case count
        /// A property. The type is the declared one, nil for a dynamic property.
        case value(Value, TypeReference?)
        /// `$value`: what a service would send as text, or for `Edm.Binary` the bytes. Null has none: the query fails
        /// with `notFound`.
        case rawValue(Value)
    }

    public init(
        entities: [EntitySnapshot], count: Int64? = nil, isSingle: Bool = false, form: Form = .entities,
        nextLink: String? = nil
    ) {
        self.entities = entities
        self.count = count
        self.isSingle = isSingle
        self.form = form
        self.nextLink = nextLink
    }
}
