internal import EDM

/// The Swift sources of a service: a class per entity type, one for the service, and the metadata that they carry.
///
/// The text becomes a model, the model a plan in which everything has its Swift name (``ServicePlan``), and the plan the
/// files. The same documents and options give the same bytes, on any machine.
public struct ProxySources: Sendable, Hashable {
    /// The service, its metadata, and the types: entity types first, then complex and enumeration types and type
    /// definitions, each in the order of the document.
    public let files: [GeneratedFile]
    /// What a person may want to know who watches: one short line each.
    public let notes: [String]

    /// - Parameter metadata: CSDL of any version that Tidelog reads, XML or JSON, in UTF-8.
    public init(metadata: [UInt8], options: ProxyOptions = ProxyOptions()) throws(ProxyError) {
        try self.init(MetadataSource(bytes: metadata), options: options)
    }

    /// - Parameters:
    ///   - metadata: CSDL of any version that Tidelog reads, XML or JSON, in UTF-8.
    ///   - references: documents that it refers to, see ``ReferencedDocuments``; their types are generated as its own.
    ///   - annotations: a document with annotations that choose names. Metadata may have such annotations as well.
    public init(
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
        files = style.files(metadata: text, references: documents)
        notes =
            ["The service is \(plan.serviceName)."]
            + plan.entities.map { "\($0.type.name) is \($0.className)." }
            + model.defects.filter { $0.leftOut != nil }.map(\.description)
            + model.unresolvedNames.map { "\($0) is in no document that was read." }
            + model.schemas.flatMap(\.containers).flatMap(\.functionImports).filter(\.isBindable).map {
                "\($0.name) is called on an entity, which V3 does in its own way: it gets no function."
            }
    }

    /// Everything in one file, whose name is given with its extension.
    public func singleFile(named name: String) -> GeneratedFile { GeneratedFile(name: name, joining: files) }

    private static func model(
        _ metadata: MetadataSource, _ references: [MetadataSource], _ options: ProxyOptions
    ) throws(ProxyError) -> EntityDataModel {
        let document = try metadata.document()
        var others: [CSDLReader.Document] = []
        for reference in references { others.append(try reference.document()) }
        do throws(CSDLError) {
            return try CSDLReader(refusesCaseConflicts: !options.allowsCaseConflicts)
                .read(document, references: others)
        } catch {
            throw ProxyError(error)
        }
    }
}
