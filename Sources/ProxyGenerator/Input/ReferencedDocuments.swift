internal import EDM

/// The referenced documents that metadata needs: those that declare a base type, a property's type, an entity set's
/// type or an extended container.
///
/// Vocabulary documents, which only annotations reference, are not needed.
package struct ReferencedDocuments: Sendable, Hashable {
    /// A namespace with needed elements.
    package struct NeededNamespace: Sendable, Hashable {
        package let namespace: String
        /// The URIs of the namespace in the references of the documents that were read, unchanged.
        package let uris: [String]
    }

    /// The documents in the order in which they were found.
    package let found: [MetadataSource]
    /// The qualified names that no document declares.
    package let unresolved: [String]

    /// The maximum number of documents. The metadata of a service usually references a few.
    static let most = 100

    /// Reads the needed documents, and recursively the documents that these need.
    ///
    /// - Parameters:
    ///   - metadata: The document whose references are read.
    ///   - find: Returns the document that declares the namespace; nil if it cannot be found, which is not an error.
    /// - Throws: A ``ProxyError`` if a document is invalid or there are too many.
    package init(
        of metadata: MetadataSource, find: (NeededNamespace) throws(ProxyError) -> MetadataSource?
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
            guard let document = try find(NeededNamespace(namespace: namespace, uris: uris)),
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
