import EDM
import ODataQuery

/// A type whose objects can be encoded as the values of an entity; ``EntityValue`` is the only one.
public protocol EncodableEntity: AnyObject, Encodable {}

extension EncodableEntity where Self: EntityValue {
    /// Encodes the set properties and the loaded relations under the names of the metadata, for example with
    /// `JSONEncoder`.
    ///
    /// Values have the format of OData 4 in JSON: dates, durations, GUIDs and binary values are strings. Decimals are
    /// strings too, because an encoder has no number type without loss. An entity inside of itself, such as the
    /// customer of an order of that customer, is omitted. Nothing is read from the store.
    ///
    /// The result is for exports, logs and tests; an entity cannot be decoded from it.
    ///
    /// - Throws: The errors of the encoder.
    public func encode(to encoder: any Encoder) throws {
        try EncodedEntity(entity: self, path: []).encode(to: encoder)
    }
}

extension EntityValue: EncodableEntity {}

/// An entity, and the objects that contain it in the encoded document.
private struct EncodedEntity: Encodable {
    let entity: EntityValue
    let path: [EntityValue]

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Name.self)
        for (name, value) in entity.properties { try container.encode(EncodedValue(value), forKey: Name(name)) }
        for known in entity.related.all.sorted(by: { $0.name < $1.name }) where known.targets.isKnown {
            let (name, relation) = (Name(known.name), known.targets)
            guard known.property?.isCollection != true else {
                try container.encode(relation.list.compactMap(nested), forKey: name)
                continue
            }
            guard let target = relation.target else {
                // A target that was set by its ID is not read.
                if relation.targetID == nil { try container.encodeNil(forKey: name) }
                continue
            }
            if let target = nested(target) { try container.encode(target, forKey: name) }
        }
    }

    /// Returns a related entity for encoding, or `nil` if it contains this one.
    private func nested(_ other: EntityValue) -> EncodedEntity? {
        let path = path + [entity]
        return path.contains(other) ? nil : EncodedEntity(entity: other, path: path)
    }
}

private struct EncodedValue: Encodable {
    let value: Value

    init(_ value: Value) { self.value = value }

    func encode(to encoder: any Encoder) throws {
        switch value {
        case .complex(let complex):
            var container = encoder.container(keyedBy: Name.self)
            for (name, value) in complex.properties { try container.encode(EncodedValue(value), forKey: Name(name)) }
        case .collection(let items):
            var container = encoder.unkeyedContainer()
            for item in items { try container.encode(EncodedValue(item)) }
        default:
            var container = encoder.singleValueContainer()
            switch value {
            case .null: try container.encodeNil()
            case .boolean(let flag): try container.encode(flag)
            case .integer(let number): try container.encode(number)
            case .single(let number) where number.isFinite: try container.encode(number)
            case .double(let number) where number.isFinite: try container.encode(number)
            case .raw(let json): try container.encode(json)
            default:
                try container.encode(PrimitiveLiteral.format(value, as: nil, version: .v4, form: .json))
            }
        }
    }
}

/// A name of the metadata as a key.
private struct Name: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }

    init(_ name: String) { stringValue = name }
    init?(stringValue: String) { self.init(stringValue) }
    init?(intValue: Int) { nil }
}

extension RelatedEntities {
    /// Whether the targets were read, or set by the app.
    fileprivate var isKnown: Bool { isResolved || edit != .none }
}
