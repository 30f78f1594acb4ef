public import EDM

/// The metadata document embedded in generated classes, so that entities can be created before a service is
/// contacted.
///
/// For generated code; the generator has read the same text before. Invalid metadata or an undeclared name is a
/// programming error and traps.
public struct EmbeddedMetadata: Sendable {
    /// The model of the document.
    public let model: EntityDataModel
    private let document: String
    private let hasReferences: Bool

    /// The model of the first document alone.
    var ownModel: EntityDataModel {
        // The document was valid together with the others, so it is valid alone; types of other documents are
        // unresolved.
        guard hasReferences, let own = try? CSDLReader.read(Array(document.utf8)) else { return model }
        return own
    }

    init(_ model: EntityDataModel) {
        self.model = model
        document = ""
        hasReferences = false
    }

    /// Reads a document. Traps if it is invalid.
    public init(_ document: String) { self.init(document, references: []) }

    /// Reads the documents. Traps if one is invalid.
    ///
    /// - Parameters:
    ///   - document: the first document.
    ///   - references: the documents that the first one refers to, directly or indirectly, and that were read with
    ///     it.
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

    /// Returns the entity type with the given qualified name. Traps if there is none.
    public func entityType(_ name: String) -> EntityType {
        guard let type = model.findEntityType(name) else {
            preconditionFailure("The embedded metadata has no entity type \(name).")
        }
        return type
    }

    /// Returns the structural or navigation property of an entity or complex type, including inherited ones. Traps if
    /// there is none.
    public func property(_ name: String, of type: String) -> Property {
        let declaring = model.findEntityType(type) ?? model.findComplexType(type)
        guard let property = declaring?.findProperty(name) else {
            preconditionFailure("The embedded metadata has no property \(name) of \(type).")
        }
        return property
    }

    /// Returns the complex type with the given qualified name. Traps if there is none.
    public func complexType(_ name: String) -> ComplexType {
        guard let type = model.findComplexType(name) else {
            preconditionFailure("The embedded metadata has no complex type \(name).")
        }
        return type
    }

    /// Returns the enumeration type with the given qualified name. Traps if there is none.
    public func enumerationType(_ name: String) -> EnumerationType {
        guard let type = model.enumerationType(named: name) else {
            preconditionFailure("The embedded metadata has no enumeration type \(name).")
        }
        return type
    }
}

extension EntityValue {
    /// Creates an entity of the type with the given qualified name in the embedded metadata.
    ///
    /// - Parameter withDefaults: whether properties receive defaults, as in ``init(_:withDefaults:)``. Enumerations
    ///   receive the member with the number 0, otherwise the first one; complex values receive the defaults of their
    ///   own properties.
    public convenience init(_ metadata: EmbeddedMetadata, _ type: String, withDefaults: Bool) {
        self.init(metadata.entityType(type))
        if withDefaults { values = DefaultValues(model: metadata.model).of(entityType) }
    }
}
