public import EDM

/// A request that failed, as an entity of `ErrorArchive`.
nonisolated open class OfflineODataErrorArchiveEntity: EntityValue {
    open override class var entityTypeName: String? { "Tidelog.ErrorArchiveEntry" }

    private static func property(_ name: String) -> Property {
        QueueClasses.metadata.property(name, of: "Tidelog.ErrorArchiveEntry")
    }

    public static let requestID = StructuralProperty<OfflineODataErrorArchiveEntity, Int>(property("RequestID"))
    public static let customTag = StructuralProperty<OfflineODataErrorArchiveEntity, String>(property("CustomTag"))
    public static let action = StructuralProperty<OfflineODataErrorArchiveEntity, String>(property("Action"))
    public static let reason = StructuralProperty<OfflineODataErrorArchiveEntity, String>(property("Reason"))
    public static let entityLink = StructuralProperty<OfflineODataErrorArchiveEntity, String>(property("EntityLink"))
    public static let time = StructuralProperty<OfflineODataErrorArchiveEntity, GlobalDateTime>(property("Time"))
    public static let requestState = StructuralProperty<OfflineODataErrorArchiveEntity, String>(property("State"))
    public static let httpStatusCode = StructuralProperty<OfflineODataErrorArchiveEntity, Int>(
        property("HTTPStatusCode"))
    public static let code = StructuralProperty<OfflineODataErrorArchiveEntity, String>(property("Code"))
    public static let message = StructuralProperty<OfflineODataErrorArchiveEntity, String>(property("Message"))
    public static let innerError = StructuralProperty<OfflineODataErrorArchiveEntity, String>(property("InnerError"))
    public static let domain = StructuralProperty<OfflineODataErrorArchiveEntity, String>(property("Domain"))
    public static let requestMethod = StructuralProperty<OfflineODataErrorArchiveEntity, String>(
        property("RequestMethod"))
    public static let requestURL = StructuralProperty<OfflineODataErrorArchiveEntity, String>(property("RequestURL"))
    public static let requestBody = StructuralProperty<OfflineODataErrorArchiveEntity, String>(property("RequestBody"))
    /// Leads to the entity that the operation is about, of whatever class; none once it is gone.
    public static let affectedEntity = ToOneProperty<OfflineODataErrorArchiveEntity, EntityValue>(
        property("AffectedEntity"))
    /// Leads to the operations that wait for this one.
    public static let dependentRequests = ToManyProperty<
        OfflineODataErrorArchiveEntity, OfflineODataRequestQueueEntity
    >(
        property("DependentRequests"))

    /// The operation's sequence number.
    public var requestID: Int? { self[OfflineODataErrorArchiveEntity.requestID] }

    /// The app's own mark of the request.
    public var customTag: String? { self[OfflineODataErrorArchiveEntity.customTag] }

    /// What the operation does: `create`, `update`, `delete`, `createLink`, `updateLink` or `deleteLink`.
    public var action: String? { self[OfflineODataErrorArchiveEntity.action] }

    /// Why it waits or failed, one sentence.
    public var reason: String? { self[OfflineODataErrorArchiveEntity.reason] }

    /// The readLink of the entity that the operation is about.
    public var entityLink: String? { self[OfflineODataErrorArchiveEntity.entityLink] }

    /// When the operation was made.
    public var time: GlobalDateTime? { self[OfflineODataErrorArchiveEntity.time] }

    /// `rejected`, `conflict` or `inDoubt`.
    public var requestState: String? { self[OfflineODataErrorArchiveEntity.requestState] }

    /// The status of the service's answer; nil if the request was not answered or not sent.
    public var httpStatusCode: Int? { self[OfflineODataErrorArchiveEntity.httpStatusCode] }

    /// The service's error code.
    public var code: String? { self[OfflineODataErrorArchiveEntity.code] }

    /// The service's error message.
    public var message: String? { self[OfflineODataErrorArchiveEntity.message] }

    /// The service's inner error as JSON.
    public var innerError: String? { self[OfflineODataErrorArchiveEntity.innerError] }

    /// The class of the error: what to do about it.
    public var domain: String? { self[OfflineODataErrorArchiveEntity.domain] }

    /// The method of the request.
    public var requestMethod: String? { self[OfflineODataErrorArchiveEntity.requestMethod] }

    /// The URL of the request, relative to the service root.
    public var requestURL: String? { self[OfflineODataErrorArchiveEntity.requestURL] }

    /// The body of the request.
    public var requestBody: String? { self[OfflineODataErrorArchiveEntity.requestBody] }

    /// The entity that the operation is about, if the query expanded it.
    public var affectedEntity: EntityValue? { relatedEntity(OfflineODataErrorArchiveEntity.affectedEntity) }

    /// The operations that wait for this one, if the query expanded them.
    public var dependentRequests: [OfflineODataRequestQueueEntity] {
        relatedEntities(OfflineODataErrorArchiveEntity.dependentRequests).compactMap {
            $0 as? OfflineODataRequestQueueEntity
        }
    }
}
