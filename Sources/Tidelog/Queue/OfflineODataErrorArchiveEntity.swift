public import EDM

/// A failed request, as an entity of `ErrorArchive`.
nonisolated open class OfflineODataErrorArchiveEntity: EntityValue {
    open override class var entityTypeName: String? { "Tidelog.ErrorArchiveEntry" }

    private static func property(_ name: String) -> Property {
        QueueClasses.metadata.property(name, of: "Tidelog.ErrorArchiveEntry")
    }

    /// The property with the sequence number of the operation.
    public static let requestID = StructuralProperty<OfflineODataErrorArchiveEntity, Int>(property("RequestID"))
    /// The property with the tag that the app has set.
    public static let customTag = StructuralProperty<OfflineODataErrorArchiveEntity, String>(property("CustomTag"))
    /// The property with the action, such as `create`.
    public static let action = StructuralProperty<OfflineODataErrorArchiveEntity, String>(property("Action"))
    /// The property with the reason of the failure, as one sentence.
    public static let reason = StructuralProperty<OfflineODataErrorArchiveEntity, String>(property("Reason"))
    /// The property with the readLink of the changed entity.
    public static let entityLink = StructuralProperty<OfflineODataErrorArchiveEntity, String>(property("EntityLink"))
    /// The property with the time of the operation.
    public static let time = StructuralProperty<OfflineODataErrorArchiveEntity, GlobalDateTime>(property("Time"))
    /// The property with the state: `rejected`, `conflict` or `inDoubt`.
    public static let requestState = StructuralProperty<OfflineODataErrorArchiveEntity, String>(property("State"))
    /// The property with the status of the service's response.
    public static let httpStatusCode = StructuralProperty<OfflineODataErrorArchiveEntity, Int>(
        property("HTTPStatusCode"))
    /// The property with the service's error code.
    public static let code = StructuralProperty<OfflineODataErrorArchiveEntity, String>(property("Code"))
    /// The property with the service's error message.
    public static let message = StructuralProperty<OfflineODataErrorArchiveEntity, String>(property("Message"))
    /// The property with the service's inner error as JSON.
    public static let innerError = StructuralProperty<OfflineODataErrorArchiveEntity, String>(property("InnerError"))
    /// The property with the class of the error.
    public static let domain = StructuralProperty<OfflineODataErrorArchiveEntity, String>(property("Domain"))
    /// The property with the method of the request.
    public static let requestMethod = StructuralProperty<OfflineODataErrorArchiveEntity, String>(
        property("RequestMethod"))
    /// The property with the URL of the request, relative to the service root.
    public static let requestURL = StructuralProperty<OfflineODataErrorArchiveEntity, String>(property("RequestURL"))
    /// The property with the body of the request.
    public static let requestBody = StructuralProperty<OfflineODataErrorArchiveEntity, String>(property("RequestBody"))
    /// The entity that the operation changes, of any class; has no target once the entity is removed.
    public static let affectedEntity = ToOneProperty<OfflineODataErrorArchiveEntity, EntityValue>(
        property("AffectedEntity"))
    /// The operations that wait for this one.
    public static let dependentRequests = ToManyProperty<
        OfflineODataErrorArchiveEntity, OfflineODataRequestQueueEntity
    >(
        property("DependentRequests"))

    /// The sequence number of the operation.
    public var requestID: Int? { self[OfflineODataErrorArchiveEntity.requestID] }

    /// The tag that the app has set for the request.
    public var customTag: String? { self[OfflineODataErrorArchiveEntity.customTag] }

    /// The action of the operation: `create`, `update`, `delete`, `createLink`, `updateLink` or `deleteLink`.
    public var action: String? { self[OfflineODataErrorArchiveEntity.action] }

    /// The reason why it is waiting or failed, as one sentence.
    public var reason: String? { self[OfflineODataErrorArchiveEntity.reason] }

    /// The readLink of the entity that the operation changes.
    public var entityLink: String? { self[OfflineODataErrorArchiveEntity.entityLink] }

    /// The time of the operation.
    public var time: GlobalDateTime? { self[OfflineODataErrorArchiveEntity.time] }

    /// The state: `rejected`, `conflict` or `inDoubt`.
    public var requestState: String? { self[OfflineODataErrorArchiveEntity.requestState] }

    /// The status of the service's response; `nil` if the request was not sent or has no response.
    public var httpStatusCode: Int? { self[OfflineODataErrorArchiveEntity.httpStatusCode] }

    /// The service's error code.
    public var code: String? { self[OfflineODataErrorArchiveEntity.code] }

    /// The service's error message.
    public var message: String? { self[OfflineODataErrorArchiveEntity.message] }

    /// The service's inner error as JSON.
    public var innerError: String? { self[OfflineODataErrorArchiveEntity.innerError] }

    /// The class of the error, which determines the remedy.
    public var domain: String? { self[OfflineODataErrorArchiveEntity.domain] }

    /// The method of the request.
    public var requestMethod: String? { self[OfflineODataErrorArchiveEntity.requestMethod] }

    /// The URL of the request, relative to the service root.
    public var requestURL: String? { self[OfflineODataErrorArchiveEntity.requestURL] }

    /// The body of the request.
    public var requestBody: String? { self[OfflineODataErrorArchiveEntity.requestBody] }

    /// The entity that the operation changes, if the query expanded it.
    public var affectedEntity: EntityValue? { relatedEntity(OfflineODataErrorArchiveEntity.affectedEntity) }

    /// The operations that wait for this one, if the query expanded them.
    public var dependentRequests: [OfflineODataRequestQueueEntity] {
        relatedEntities(OfflineODataErrorArchiveEntity.dependentRequests).compactMap {
            $0 as? OfflineODataRequestQueueEntity
        }
    }
}
