import EDM
import Transport

/// The metadata of classes that declare them (``DeclaredEntity``).
///
/// ```swift
/// let schema = ClassSchema(Customer.self, Order.self)
/// let provider = schema.store(OfflineODataParameters(storePath: OfflineODataParameters.inMemory))
/// try await provider.open()
/// let service = ClassService(provider: provider, schema: schema)
/// try await service.box(for: Order.self).put(Order())
/// ```
///
/// To add the classes to the store of a service, set ``OfflineODataParameters/clientOnlyMetadata`` to ``document``.
public struct ClassSchema: Sendable {
    /// The metadata document (CSDL 4.01 in XML).
    public let document: String
    /// The classes by the qualified name of their entity type, as for ``DataService/entityClasses``.
    public let entityClasses: [String: EntityValue.Type]

    /// Creates the schema of classes. Traps if the declarations are contradictory, which is a programming error.
    public init(_ classes: any DeclaredEntity.Type...) { self.init(classes) }

    /// Creates the schema of classes. Traps if the declarations are contradictory, which is a programming error.
    public init(_ classes: [any DeclaredEntity.Type]) {
        let document = SchemaDocument(classes).text
        do {
            _ = try ClientOnlyMetadata.joined(
                service: ClientOnlyMetadata.emptyService, additions: Array(document.utf8))
        } catch {
            preconditionFailure("The declared classes have contradictory metadata: \(error)")
        }
        self.document = document
        var found: [String: EntityValue.Type] = [:]
        for type in classes { found[type.qualifiedName] = type }
        entityClasses = found
    }
}

/// A service whose objects have declared classes.
public final class ClassService: DataService, @unchecked Sendable {
    private let classes: [String: EntityValue.Type]

    /// Creates a service for a provider of a store with these classes.
    public init(provider: any DataServiceProvider, schema: ClassSchema) {
        classes = schema.entityClasses
        super.init(provider: provider)
    }

    public override var entityClasses: [String: EntityValue.Type] { classes }
}

extension ClassSchema {
    /// Returns a provider for a store without a service: its metadata are those of the classes.
    ///
    /// Nothing in the store is ever sent. Uploads and downloads have nothing to do, and the metadata cannot be
    /// refreshed; open the store with another schema instead.
    public func store(_ parameters: OfflineODataParameters) -> OfflineODataProvider {
        var parameters = parameters
        parameters.clientOnlyMetadata = document
        parameters.transport = NoTransport("The store has no service.")
        return OfflineODataProvider(serviceRoot: OfflineODataParameters.noService, parameters: parameters)
    }
}
