/// The metadata that an app adds to that of its service: entity sets, types and properties that exist only in the store.
///
/// A store logs both documents as one, separated by a processing instruction. ``CSDLReader`` merges them: the additions
/// become part of the service's types and of its entity container, and carry the annotation ``clientOnlyTerm``.
public enum ClientOnlyMetadata {
    /// The term of elements that exist only in the store.
    public static let clientOnlyTerm = "com.sap.vocabularies.Offline.v1.ClientOnly"
    /// The term of client-only entity sets with drafts of the entities of another set.
    public static let localDraftTerm = "com.sap.vocabularies.Offline.v1.LocalDraft"
    /// The navigation property that leads from a draft to its active entity. Sets of drafts add it to their type.
    public static let draftOrigin = "LocalDraftOf"
    /// The property with the values of the active entity when the draft was made.
    package static let draftBase = "LocalDraftBase"
    /// The name of the additions in errors.
    static let documentName = "client-only metadata"

    private static let separator = Array("\n<?tidelog-client-only?>\n".utf8)

    /// The metadata of a store without a service: an entity container without sets.
    public static let emptyService = Array(
        """
        <edmx:Edmx xmlns:edmx="\(MarkupNamespace.edmx)" Version="4.0"><edmx:DataServices>\
        <Schema xmlns="\(MarkupNamespace.edm)" Namespace="Tidelog.Store"><EntityContainer Name="Container"/></Schema>\
        </edmx:DataServices></edmx:Edmx>
        """.utf8)

    /// Returns one document with the service's metadata and the app's additions.
    ///
    /// The additions are CSDL in XML or JSON. An entity type with the name of a type of the service adds its properties
    /// to that type; entity sets are added to the service's entity container, whatever the name of their own.
    ///
    /// - Throws: An error if the documents cannot be merged, for example because the service has an element of the same
    ///   name, or if any part of the additions is unusable.
    public static func joined(service: [UInt8], additions: [UInt8]) throws(CSDLError) -> [UInt8] {
        let own = parts(service).service
        if additions.isEmpty { return own }
        guard parts(additions).additions == nil else {
            throw CSDLError(
                .notMetadata, "The client-only metadata contains client-only metadata of another document.", line: 1,
                column: 1, document: documentName)
        }
        let document = own + separator + additions
        let model = try CSDLReader.read(document)
        if let defect = model.defects.first(where: { $0.document == documentName && $0.omitted != nil }) {
            throw defect.fault
        }
        return document
    }

    /// Returns the service's part of a document, and the additions, if any.
    public static func parts(_ document: [UInt8]) -> (service: [UInt8], additions: [UInt8]?) {
        guard let start = separator.position(in: document) else { return (document, nil) }
        return (Array(document[..<start]), Array(document[(start + separator.count)...]))
    }
}
