internal import EDM

/// The generated Swift sources of a service: a class for each entity type, a class for the service, and the embedded
/// metadata.
///
/// The text is read into a model. The model becomes a plan that assigns all Swift names (``ServicePlan``), and the plan
/// becomes files. The same documents and options produce the same bytes on any machine.
package struct ProxySources: Sendable, Hashable {
    /// The generated files: the service, its metadata, and the types. Entity types precede complex types, enumeration
    /// types and type definitions; each kind is in document order.
    package let files: [GeneratedFile]
    /// Messages about the generation, one short line each.
    package let notes: [String]
    /// The questionable facets, if the options request them.
    package let facetWarnings: [String]

    /// Generates the sources from one document.
    ///
    /// - Parameters:
    ///   - metadata: CSDL in UTF-8, as XML or JSON, of any version that Tidelog reads.
    ///   - options: The options of the generation.
    /// - Throws: A ``ProxyError`` if the metadata or the options are invalid.
    package init(metadata: [UInt8], options: ProxyOptions = ProxyOptions()) throws(ProxyError) {
        try self.init(MetadataSource(bytes: metadata), options: options)
    }

    /// Generates the sources from a document and the documents that it references.
    ///
    /// - Parameters:
    ///   - metadata: CSDL in UTF-8, as XML or JSON, of any version that Tidelog reads.
    ///   - references: The documents that it references, see ``ReferencedDocuments``. Their types are generated like
    ///     its own.
    ///   - annotations: A document with annotations that choose names. The metadata may contain such annotations as
    ///     well.
    ///   - options: The options of the generation.
    /// - Throws: A ``ProxyError`` if a document or the options are invalid.
    package init(
        _ metadata: MetadataSource, references: [MetadataSource] = [], annotations: MetadataSource? = nil,
        options: ProxyOptions = ProxyOptions()
    ) throws(ProxyError) {
        let text = try metadata.text()
        var documents: [String] = []
        for reference in references { documents.append(try reference.text()) }
        let model = try Self.model(metadata, references, options)
        var chosen = NameAnnotations(model: model)
        for source in [metadata] + references { try chosen.read(in: source) }
        if let annotations { try chosen.read(file: annotations) }
        let plan = try ServicePlan(model: model, options: options, names: chosen.names)
        guard !plan.entities.isEmpty else { throw .noEntityTypes(document: metadata.name) }
        let style = SourceStyle(plan: plan, isInternal: options.isInternal)
        facetWarnings = options.hasFacetWarnings ? model.facetWarnings.map(\.description) : []
        files = style.files(metadata: text, references: documents)
        notes =
            ["The service is \(plan.serviceName)."]
            + plan.entities.map { "\($0.type.name) is \($0.className)." }
            + model.defects.filter { $0.omitted != nil }.map(\.description)
            + model.unresolvedNames.map { "\($0) is not declared in any document that was read." }
            + model.schemas.flatMap(\.containers).flatMap(\.functionImports).filter(\.isBindable).map {
                "\($0.name) is bound to an entity, which V3 does in its own way; no function is generated for it."
            }
    }

    /// Returns all declarations in a single file.
    ///
    /// - Parameter name: The name of the file with its extension.
    package func singleFile(named name: String) -> GeneratedFile { GeneratedFile(name: name, joining: files) }

    private static func model(
        _ metadata: MetadataSource, _ references: [MetadataSource], _ options: ProxyOptions
    ) throws(ProxyError) -> EntityDataModel {
        let document = try metadata.document()
        var others: [CSDLReader.Document] = []
        for reference in references { others.append(try reference.document()) }
        do throws(CSDLError) {
            var reader = CSDLReader(refusesCaseConflicts: !options.allowsCaseConflicts)
            reader.options.excludesServerOnlyElements = options.excludesServerOnlyElements
            return try reader.read(document, references: others)
        } catch {
            throw ProxyError(error)
        }
    }
}
