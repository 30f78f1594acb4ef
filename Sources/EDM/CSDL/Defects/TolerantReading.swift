/// Reads documents as far as they can be used.
///
/// What breaks a rule is taken out of the tree, and the rest is read again, until nothing breaks one: what depends on what
/// was taken out breaks one then. So the model is that of the documents without these elements, whatever was wrong with them.
struct TolerantReading {
    let limits: CSDLReader.Limits
    let isStrict: Bool
    let refusesCaseConflicts: Bool

    /// More than anything can depend on something else in a row: a base type takes all that derives from it along at once.
    private static let mostRounds = 32

    func read(_ documents: [MetadataDocument]) throws(CSDLError) -> EntityDataModel {
        var documents = documents
        var leftOut = LeftOutElements()
        var first: CSDLError?
        for _ in 0..<Self.mostRounds {
            let log = DefectLog(isStrict: isStrict)
            let index = try SchemaIndex(documents, limits: limits, log: log, leftOut: leftOut)
            if log.unusable.isEmpty, refusesCaseConflicts { try CaseConflicts(index: index).refuse() }
            // The types are not all there otherwise, and much would be found wrong that is not.
            let model = log.unusable.isEmpty ? try ModelBuilder(documents: documents, index: index).build() : nil
            if let model, log.unusable.isEmpty {
                if let first, !Self.isUsable(index) { throw first }
                return model
            }
            first = first ?? log.first
            leftOut.take(log, outOf: documents)
            documents = try reread(documents, first)
        }
        throw first ?? CSDLError(.tooDeep, "Too much of the document depends on what is wrong.", line: 1, column: 1)
    }

    /// The documents, whose trees have changed.
    private func reread(_ documents: [MetadataDocument], _ first: CSDLError?) throws(CSDLError) -> [MetadataDocument] {
        var result: [MetadataDocument] = []
        for document in documents {
            do throws(CSDLError) { result.append(try MetadataDocument(document.root)) } catch { throw first ?? error }
        }
        return result
    }

    /// Whether anything is left that could be used.
    private static func isUsable(_ index: SchemaIndex) -> Bool {
        index.sources.contains { source in
            source.element.children.contains { element in
                switch element.name {
                case "EntityContainer": element.children.contains { offered.contains($0.name) }
                case let name: usable.contains(name)
                }
            }
        }
    }

    private static let usable: Set<String> = [
        "EntityType", "ComplexType", "EnumType", "TypeDefinition", "Action", "Function", "Term", "Annotations",
    ]
    private static let offered: Set<String> = ["EntitySet", "Singleton", "ActionImport", "FunctionImport"]
}
