import EDM
import OperationLog
import Operations
import SyncCore

/// The metadata in a log, latest first.
struct MetadataHistory {
    private let models: [EntityDataModel]
    private let indexes: [RelationshipIndex]

    init(_ structure: [LogRecord], _ beginning: CompactedState?) {
        var services: [ServiceDescription] = []
        for record in structure.reversed() where record.kind == RecordCodec.RecordKind.serviceInstalled.rawValue {
            guard let decoded = try? RecordCodec.decode(kind: record.kind, payload: record.payload),
                case .serviceInstalled(let service) = decoded.body
            else { continue }
            services.append(service)
        }
        if let service = beginning?.service { services.append(service) }
        // No record after invalid metadata can have used them.
        models = services.compactMap { try? CSDLReader.read($0.metadata) }
        indexes = models.map { RelationshipIndex($0) }
    }

    func type(ofSet name: String) -> (type: EntityType, version: ODataVersion)? {
        for model in models {
            if let set = model.findEntitySet(name) { return (set.entityType, model.version) }
        }
        return nil
    }

    /// Returns the constraints in which values of the set's entities take part.
    func constraints(of set: String) -> (
        dependent: [RelationshipIndex.Constraint], principal: [RelationshipIndex.Constraint]
    ) {
        for index in indexes where index.model(has: set) {
            return (index.constraints(ofDependentsIn: set), index.constraints(ofPrincipalsIn: set))
        }
        return ([], [])
    }
}

extension RelationshipIndex {
    fileprivate func model(has set: String) -> Bool {
        !constraints(ofDependentsIn: set).isEmpty || !constraints(ofPrincipalsIn: set).isEmpty
    }
}
