/// The type of a property, parameter or result: its name, its kind, and whether it is a collection.
public struct TypeReference: Sendable, Hashable {
    /// The type to which a name resolves.
    public indirect enum ReferencedType: Sendable, Hashable {
        /// A primitive type.
        case primitive(PrimitiveType)
        /// A type definition with its underlying primitive type.
        case typeDefinition(name: String, underlying: PrimitiveType)
        /// An enumeration type. ``EntityDataModel/enumerationType(named:)`` returns its members.
        case enumeration(name: String)
        /// A complex type with its qualified name.
        case complex(name: String)
        /// An entity type with its qualified name.
        case entity(name: String)
        /// A name that no schema declares: its declaration is in a document that was not read.
        case unresolved(name: String)
    }

    /// The type of the value, or of each item of a collection.
    public let kind: ReferencedType
    /// A Boolean value that indicates whether it is a collection of the type.
    public let isCollection: Bool

    /// Creates a reference to a type.
    public init(_ kind: ReferencedType, isCollection: Bool = false) {
        self.kind = kind
        self.isCollection = isCollection
    }

    /// The qualified name, without `Collection(…)`.
    public var name: String {
        switch kind {
        case .primitive(let type): type.rawValue
        case .typeDefinition(let name, _), .enumeration(let name), .complex(let name), .entity(let name),
            .unresolved(let name):
            name
        }
    }

    /// The primitive type of the value or of each item, resolved through type definitions, or `nil` for other types.
    public var primitive: PrimitiveType? {
        switch kind {
        case .primitive(let type), .typeDefinition(_, let type): type
        default: nil
        }
    }

    /// The type of one item of a collection; the type itself if it is not a collection.
    public var item: TypeReference { TypeReference(kind) }
}

/// The facets in a property's declaration (CSDL 4.01, section 7.2). `nil` for facets that are not declared.
public struct Facets: Sendable, Hashable {
    /// The length in characters for strings, in bytes for binary; `Int.max` for `Max`.
    public var maxLength: Int?
    /// The maximum number of digits of a decimal, or of fractional digits of seconds in a temporal value.
    public var precision: Int?
    /// The fractional digits that a decimal can have.
    public var scale: Scale?
    /// A Boolean value that indicates whether a string can contain characters outside of ASCII; if it is not declared,
    /// it can.
    public var isUnicode: Bool?
    /// The number of the coordinate reference system of a geo type, or `variable`, as written in the document.
    public var srid: String?
    /// The default value as written in the document.
    public var defaultValue: String?
    /// V2 and V3, `ConcurrencyMode="Fixed"`: whether the value is part of the entity's ETag.
    public var isConcurrencyToken: Bool

    /// The facet `Scale` (CSDL 4.01, section 7.2.4).
    public enum Scale: Sendable, Hashable {
        /// At most this number of fractional digits.
        case fixed(Int)
        /// Any number of fractional digits up to the precision.
        case variable
        /// A decimal floating point number, whose precision is the number of significant digits.
        case floating
    }

    /// Creates facets. Those that are omitted are not declared.
    public init(
        maxLength: Int? = nil, precision: Int? = nil, scale: Scale? = nil, isUnicode: Bool? = nil, srid: String? = nil,
        defaultValue: String? = nil, isConcurrencyToken: Bool = false
    ) {
        self.maxLength = maxLength
        self.precision = precision
        self.scale = scale
        self.isUnicode = isUnicode
        self.srid = srid
        self.defaultValue = defaultValue
        self.isConcurrencyToken = isConcurrencyToken
    }
}
