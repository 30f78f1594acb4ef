public import EDM

/// An unfinished operation, as an entity of `RequestQueue`.
nonisolated open class OfflineODataRequestQueueEntity: EntityValue {
    open override class var entityTypeName: String? { "Tidelog.RequestQueueEntry" }

    private static func property(_ name: String) -> Property {
        QueueClasses.metadata.property(name, of: "Tidelog.RequestQueueEntry")
    }

    public static let requestID = StructuralProperty<OfflineODataRequestQueueEntity, Int>(property("RequestID"))
    public static let customTag = StructuralProperty<OfflineODataRequestQueueEntity, String>(property("CustomTag"))
    public static let action = StructuralProperty<OfflineODataRequestQueueEntity, String>(property("Action"))
    public static let reason = StructuralProperty<OfflineODataRequestQueueEntity, String>(property("Reason"))
    public static let entityLink = StructuralProperty<OfflineODataRequestQueueEntity, String>(property("EntityLink"))
    public static let time = StructuralProperty<OfflineODataRequestQueueEntity, GlobalDateTime>(property("Time"))
    public static let status = StructuralProperty<OfflineODataRequestQueueEntity, String>(property("Status"))
    public static let method = StructuralProperty<OfflineODataRequestQueueEntity, String>(property("Method"))
    public static let url = StructuralProperty<OfflineODataRequestQueueEntity, String>(property("URL"))
    public static let body = StructuralProperty<OfflineODataRequestQueueEntity, String>(property("Body"))
    public static let transactionID = StructuralProperty<OfflineODataRequestQueueEntity, String>(
        property("TransactionID"))
    public static let uploadCategory = StructuralProperty<OfflineODataRequestQueueEntity, String>(
        property("UploadCategory"))
    public static let delivery = StructuralProperty<OfflineODataRequestQueueEntity, String>(property("Delivery"))
    public static let unmodifiable = StructuralProperty<OfflineODataRequestQueueEntity, Bool>(property("Unmodifiable"))
    /// The entity that the operation changes, of any class; has no target once the entity is removed.
    public static let affectedEntity = ToOneProperty<OfflineODataRequestQueueEntity, EntityValue>(
        property("AffectedEntity"))
    /// The operations that wait for this one.
    public static let dependentRequests = ToManyProperty<
        OfflineODataRequestQueueEntity, OfflineODataRequestQueueEntity
    >(
        property("DependentRequests"))

    /// The sequence number of the operation.
    public var requestID: Int? { self[OfflineODataRequestQueueEntity.requestID] }

    /// The tag that the app has set for the request.
    public var customTag: String? { self[OfflineODataRequestQueueEntity.customTag] }

    /// The action of the operation: `create`, `update`, `delete`, `createLink`, `updateLink` or `deleteLink`.
    public var action: String? { self[OfflineODataRequestQueueEntity.action] }

    /// The reason why it is waiting or failed, as one sentence.
    public var reason: String? { self[OfflineODataRequestQueueEntity.reason] }

    /// The readLink of the entity that the operation changes.
    public var entityLink: String? { self[OfflineODataRequestQueueEntity.entityLink] }

    /// The time of the operation.
    public var time: GlobalDateTime? { self[OfflineODataRequestQueueEntity.time] }

    /// The status: `pending`, `inFlight`, `inDoubt`, `rejected` or `deferred`.
    public var status: String? { self[OfflineODataRequestQueueEntity.status] }

    /// The method of the request that would be sent now.
    public var method: String? { self[OfflineODataRequestQueueEntity.method] }

    /// The URL of that request, relative to the service root.
    public var url: String? { self[OfflineODataRequestQueueEntity.url] }

    /// The body of that request.
    public var body: String? { self[OfflineODataRequestQueueEntity.body] }

    /// The name of the operation's transaction.
    public var transactionID: String? { self[OfflineODataRequestQueueEntity.transactionID] }

    /// The category by which an upload can select the operation.
    public var uploadCategory: String? { self[OfflineODataRequestQueueEntity.uploadCategory] }

    /// The delivery: `queued`, `draft` or `localOnly`.
    public var delivery: String? { self[OfflineODataRequestQueueEntity.delivery] }

    /// A Boolean value that indicates whether the request is sent exactly as it was made.
    public var unmodifiable: Bool? { self[OfflineODataRequestQueueEntity.unmodifiable] }

    /// The entity that the operation changes, if the query expanded it.
    public var affectedEntity: EntityValue? { relatedEntity(OfflineODataRequestQueueEntity.affectedEntity) }

    /// The operations that wait for this one, if the query expanded them.
    public var dependentRequests: [OfflineODataRequestQueueEntity] {
        relatedEntities(OfflineODataRequestQueueEntity.dependentRequests).compactMap {
            $0 as? OfflineODataRequestQueueEntity
        }
    }
}
