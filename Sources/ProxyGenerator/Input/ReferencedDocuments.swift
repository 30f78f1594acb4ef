internal import EDM

/// The documents that metadata refer to and need: those that declare a base type, a property's type, an entity set's type or
/// an extended container. Documents of vocabularies, which only annotations name, are not needed.
public struct ReferencedDocuments: Sendable, Hashable {
    /// A namespace of which something is needed.
    public struct Wanted: Sendable, Hashable {
        public let namespace: String
        /// Where the documents that were read say that it is, as they write it.
        public let uris: [String]
    }

    /// In the order in which they were found.
    public let found: [MetadataSource]
    /// The qualified names that no document declares.
    public let unresolved: [String]

    /// More are not read: metadata of services have a few.
    static let most = 100

    /// Reads what is needed, what that needs, and so on.
    /// - Parameter find: gives the document that declares the namespace; nil where it is not to be found, which is no error.
    public init(
        of metadata: MetadataSource, find: (Wanted) throws(ProxyError) -> MetadataSource?
    ) throws(ProxyError) {
        var found: [MetadataSource] = []
        var documents: [CSDLReader.Document] = []
        var asked: Set<String> = []
        let main = try metadata.document()
        while true {
            let model: EntityDataModel
            do throws(CSDLError) {
                model = try CSDLReader().read(main, references: documents)
            } catch {
                throw ProxyError(error)
            }
            let unresolved = model.unresolvedNames
            let next = unresolved.lazy.map(Self.namespace).first { !asked.contains($0) }
            guard let namespace = next else {
                self.found = found
                self.unresolved = unresolved
                return
            }
            asked.insert(namespace)
            let uris = model.references.filter { $0.includes.contains { $0.namespace == namespace } }.map(\.uri)
            guard let document = try find(Wanted(namespace: namespace, uris: uris)),
                document.bytes != metadata.bytes, !found.contains(document)
            else { continue }
            guard found.count < Self.most else { throw .tooManyReferences(document: metadata.name) }
            found.append(document)
            documents.append(try document.document())
        }
    }

    private static func namespace(of name: String) -> String {
        name.lastIndex(of: ".").map { String(name[..<$0]) } ?? ""
    }
}
