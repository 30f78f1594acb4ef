package import EDM

/// The entity sets that a store has in addition to the service's.
///
/// The entities of `ErrorArchive` and `RequestQueue` are the pending operations; `EventLog` contains the last downloads
/// and uploads. They are never sent and are not part of the service's metadata.
package enum QueueModel {
    package static let archive = "ErrorArchive"
    package static let queue = "RequestQueue"
    package static let events = "EventLog"
    /// The navigation property from both sets to the entity of the operation.
    static let affectedEntity = "AffectedEntity"
    /// The navigation property to the operations that wait for one.
    static let dependentRequests = "DependentRequests"

    static let archiveType = "Tidelog.ErrorArchiveEntry"
    static let queueType = "Tidelog.RequestQueueEntry"
    static let eventType = "Tidelog.Event"
    static let headerType = "Tidelog.RequestHeader"
    /// A placeholder for the types of the service's entities. It is open, since it declares none of their properties.
    static let entityType = "Tidelog.AffectedEntity"

    package static let model: EntityDataModel = {
        do throws(CSDLError) {
            return try CSDLReader.read(Array(metadata.utf8))
        } catch {
            preconditionFailure("the metadata of the queue cannot be parsed: \(error)")
        }
    }()

    private static let common = """
        <Property Name="RequestID" Type="Edm.Int64" Nullable="false"/><Property Name="CustomTag" Type="Edm.String"/>
        <Property Name="Action" Type="Edm.String"/><Property Name="Reason" Type="Edm.String"/>
        <Property Name="EntityLink" Type="Edm.String"/><Property Name="Time" Type="Edm.DateTimeOffset" Precision="3"/>
        <Property Name="CustomHeaders" Type="Collection(\(headerType))"/>
        <NavigationProperty Name="\(affectedEntity)" Type="\(entityType)"/>
        <NavigationProperty Name="\(dependentRequests)" Type="Collection(\(queueType))"/>
        """

    private static let bindings = """
        <NavigationPropertyBinding Path="\(dependentRequests)" Target="\(queue)"/>
        """

    private static let metadata = """
        <edmx:Edmx Version="4.0" xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx"><edmx:DataServices>
        <Schema Namespace="Tidelog" xmlns="http://docs.oasis-open.org/odata/ns/edm">
        <ComplexType Name="RequestHeader">
        <Property Name="Name" Type="Edm.String"/><Property Name="Value" Type="Edm.String"/></ComplexType>
        <EntityType Name="AffectedEntity" Abstract="true" OpenType="true"/>
        <EntityType Name="ErrorArchiveEntry"><Key><PropertyRef Name="RequestID"/></Key>\(common)
        <Property Name="State" Type="Edm.String"/><Property Name="HTTPStatusCode" Type="Edm.Int32"/>
        <Property Name="Code" Type="Edm.String"/><Property Name="Message" Type="Edm.String"/>
        <Property Name="InnerError" Type="Edm.String"/><Property Name="Domain" Type="Edm.String"/>
        <Property Name="RequestMethod" Type="Edm.String"/><Property Name="RequestURL" Type="Edm.String"/>
        <Property Name="RequestBody" Type="Edm.String"/></EntityType>
        <EntityType Name="RequestQueueEntry"><Key><PropertyRef Name="RequestID"/></Key>\(common)
        <Property Name="Status" Type="Edm.String"/><Property Name="Method" Type="Edm.String"/>
        <Property Name="URL" Type="Edm.String"/><Property Name="Body" Type="Edm.String"/>
        <Property Name="TransactionID" Type="Edm.String"/><Property Name="UploadCategory" Type="Edm.String"/>
        <Property Name="Delivery" Type="Edm.String"/><Property Name="Unmodifiable" Type="Edm.Boolean"/>
        </EntityType>
        <EntityType Name="Event"><Key><PropertyRef Name="ID"/></Key>
        <Property Name="ID" Type="Edm.Int64" Nullable="false"/><Property Name="Type" Type="Edm.String"/>
        <Property Name="Details" Type="Edm.String"/><Property Name="Time" Type="Edm.DateTimeOffset" Precision="3"/>
        </EntityType>
        <EntityContainer Name="Container">
        <EntitySet Name="\(archive)" EntityType="Tidelog.ErrorArchiveEntry">\(bindings)</EntitySet>
        <EntitySet Name="\(queue)" EntityType="Tidelog.RequestQueueEntry">\(bindings)</EntitySet>
        <EntitySet Name="\(events)" EntityType="Tidelog.Event"/>
        </EntityContainer></Schema></edmx:DataServices></edmx:Edmx>
        """
}

/// A URL into ``QueueModel``, split at the navigation property that leaves it.
struct QueueURL {
    /// The part within the model, such as `ErrorArchive(5)?…`; without query options if a navigation property follows.
    let own: String
    /// `AffectedEntity` or `DependentRequests`.
    let navigation: String?
    /// The part after the navigation property, such as `/Orders?$top=1`.
    let rest: String

    /// Creates the URL of a navigation property of the entity that `url` names.
    init(_ url: QueueURL, _ navigation: String, rest: String) {
        own = url.own
        self.navigation = navigation
        self.rest = rest
    }

    /// Parses a percent-encoded URL, or returns nil if it does not lead into the model. A set of the service with the
    /// same name takes precedence.
    init?(_ url: String, root: String?, service: EntityDataModel) {
        var text = url[...]
        if let root, text.hasPrefix(root) { text = text.dropFirst(root.count) }
        // The text is ASCII, whose bytes are compared faster than characters.
        while text.utf8.first == UInt8(ascii: "/") { text.removeFirst() }
        let name = String(decoding: text.utf8.prefix { $0 != 0x28 && $0 != 0x2F && $0 != 0x3F }, as: UTF8.self)
        guard QueueModel.model.findEntitySet(name) != nil, service.findEntitySet(name) == nil else { return nil }
        let pathEnd = text.firstIndex(of: "?") ?? text.endIndex
        let names = name == QueueModel.events ? [] : [QueueModel.affectedEntity, QueueModel.dependentRequests]
        let found = names.lazy.compactMap { name in
            text[..<pathEnd].firstRange(of: ")/" + name).map { (name: name, range: $0) }
        }.first
        own = found.map { String(text[...$0.range.lowerBound]) } ?? String(text)
        navigation = found?.name
        rest = found.map { String(text[$0.range.upperBound...]) } ?? ""
    }
}
