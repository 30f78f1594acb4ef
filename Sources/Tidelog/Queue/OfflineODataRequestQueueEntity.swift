public import EDM

/// An unfinished operation, as an entity of `RequestQueue`.
nonisolated open class OfflineODataRequestQueueEntity: EntityValue {
    open override class var entityTypeName: String? { "Tidelog.RequestQueueEntry" }

    private static func property(_ name: String) -> Property {
        QueueClasses.metadata.property(name, of: "Tidelog.RequestQueueEntry")
    }

    /// The property with the sequence number of the operation.
    public static let requestID = StructuralProperty<OfflineODataRequestQueueEntity, Int>(property("RequestID"))
    /// The property with the tag that the app has set.
    public static let customTag = StructuralProperty<OfflineODataRequestQueueEntity, String>(property("CustomTag"))
    /// The property with the action, such as `create`.
    public static let action = StructuralProperty<OfflineODataRequestQueueEntity, String>(property("Action"))
    /// The property with the reason why the operation waits or failed, as one sentence.
    public static let reason = StructuralProperty<OfflineODataRequestQueueEntity, String>(property("Reason"))
    /// The property with the readLink of the changed entity.
    public static let entityLink = StructuralProperty<OfflineODataRequestQueueEntity, String>(property("EntityLink"))
    /// The property with the time of the operation.
    public static let time = StructuralProperty<OfflineODataRequestQueueEntity, GlobalDateTime>(property("Time"))
    /// The property with the status: `pending`, `inFlight`, `inDoubt`, `rejected` or `deferred`.
    public static let status = StructuralProperty<OfflineODataRequestQueueEntity, String>(property("Status"))
    /// The property with the method of the request that would be sent now.
    public static let method = StructuralProperty<OfflineODataRequestQueueEntity, String>(property("Method"))
    /// The property with the URL of that request, relative to the service root.
    public static let url = StructuralProperty<OfflineODataRequestQueueEntity, String>(property("URL"))
    /// The property with the body of that request.
    public static let body = StructuralProperty<OfflineODataRequestQueueEntity, String>(property("Body"))
    /// The property with the name of the operation's transaction.
    public static let transactionID = StructuralProperty<OfflineODataRequestQueueEntity, String>(
        property("TransactionID"))
    /// The property with the category by which an upload can select the operation.
    public static let uploadCategory = StructuralProperty<OfflineODataRequestQueueEntity, String>(
        property("UploadCategory"))
    /// The property with the delivery: `queued`, `draft` or `localOnly`.
    public static let delivery = StructuralProperty<OfflineODataRequestQueueEntity, String>(property("Delivery"))
    /// The property whose value is true if the request is sent exactly as it was made.
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
