public import EDM

/// A download or upload, as an entity of `EventLog`.
nonisolated open class OfflineODataEvent: EntityValue {
    open override class var entityTypeName: String? { "Tidelog.Event" }

    private static func property(_ name: String) -> Property {
        QueueClasses.metadata.property(name, of: "Tidelog.Event")
    }

    /// The property with the number of the event.
    public static let id = StructuralProperty<OfflineODataEvent, Int>(property("ID"))
    /// The property with the type: `Download` or `Upload`.
    public static let type = StructuralProperty<OfflineODataEvent, String>(property("Type"))
    /// The property with the names of the downloaded queries, for a download of a subset.
    public static let details = StructuralProperty<OfflineODataEvent, String>(property("Details"))
    /// The property with the time of the event.
    public static let time = StructuralProperty<OfflineODataEvent, GlobalDateTime>(property("Time"))

    /// The number of the event.
    public var id: Int? { self[OfflineODataEvent.id] }

    /// The type: `Download` or `Upload`.
    public var type: String? { self[OfflineODataEvent.type] }

    /// For a download of a subset, the names of its queries, joined by commas.
    public var details: String? { self[OfflineODataEvent.details] }

    /// The time of the event.
    public var time: GlobalDateTime? { self[OfflineODataEvent.time] }
}
