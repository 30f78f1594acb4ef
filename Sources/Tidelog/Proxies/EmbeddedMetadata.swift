public import EDM

/// The metadata document that generated classes carry, so that entities can be made before any service was asked.
///
/// Generated code uses it; the generator has read the same text before. A text that is no metadata, or a name that it does
/// not declare, is a bug in whoever wrote the call, and traps.
public struct EmbeddedMetadata: Sendable {
    public let model: EntityDataModel
    private let document: String
    private let hasReferences: Bool

    /// What the first document declares by itself.
    var ownModel: EntityDataModel {
        // It was read with the others, and so can be read alone; a type of another document is unresolved then.
        guard hasReferences, let own = try? CSDLReader.read(Array(document.utf8)) else { return model }
        return own
    }

    init(_ model: EntityDataModel) {
        self.model = model
        document = ""
        hasReferences = false
    }

    public init(_ document: String) { self.init(document, references: []) }

    /// - Parameter references: the documents that the first one, or one of them, refers to and that were read with it.
    public init(_ document: String, references: [String]) {
        self.document = document
        hasReferences = !references.isEmpty
        func named(_ text: String) -> CSDLReader.Document { CSDLReader.Document(bytes: Array(text.utf8)) }
        do {
            model = try CSDLReader().read(named(document), references: references.map(named))
        } catch {
            preconditionFailure("The embedded metadata cannot be read: \(error)")
        }
    }

    /// The entity type of that qualified name.
    public func entityType(_ name: String) -> EntityType {
        guard let type = model.findEntityType(name) else {
            preconditionFailure("The embedded metadata has no entity type \(name).")
        }
        return type
    }

    /// The property of that name of an entity or complex type, structural or navigation, inherited ones included.
    public func property(_ name: String, of type: String) -> Property {
        let declaring = model.findEntityType(type) ?? model.findComplexType(type)
        guard let property = declaring?.findProperty(name) else {
            preconditionFailure("The embedded metadata has no property \(name) of \(type).")
        }
        return property
    }

    /// The complex type of that qualified name.
    public func complexType(_ name: String) -> ComplexType {
        guard let type = model.findComplexType(name) else {
            preconditionFailure("The embedded metadata has no complex type \(name).")
        }
        return type
    }

    /// The enumeration type of that qualified name.
    public func enumerationType(_ name: String) -> EnumerationType {
        guard let type = model.enumerationType(named: name) else {
            preconditionFailure("The embedded metadata has no enumeration type \(name).")
        }
        return type
    }
}

extension EntityValue {
    /// A new entity of the type that the embedded metadata declare under that qualified name.
    ///
    /// - Parameter withDefaults: as for ``init(_:withDefaults:)``, and enumerations have their member 0, or else the first, and
    ///   complex values those of their own properties.
    public convenience init(_ metadata: EmbeddedMetadata, _ type: String, withDefaults: Bool) {
        self.init(metadata.entityType(type))
        if withDefaults { values = DefaultValues(model: metadata.model).of(entityType) }
    }
}
