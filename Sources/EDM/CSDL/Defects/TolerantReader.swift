/// Reads documents as far as they are usable.
///
/// Elements that break a rule are removed from the tree, and the rest is read again until no rule is broken: an
/// element that depends on a removed one breaks a rule in the next pass. So the model equals that of the documents
/// without these elements, whatever was wrong with them.
struct TolerantReader {
    let limits: CSDLReader.Limits
    let isStrict: Bool
    let refusesCaseConflicts: Bool

    /// More passes than a chain of dependencies needs: an unusable base type removes all derived types in one pass.
    private static let mostRounds = 32

    func read(_ documents: [MetadataDocument]) throws(CSDLError) -> EntityDataModel {
        var documents = documents
        var omitted = RemovedElements()
        var first: CSDLError?
        for _ in 0..<Self.mostRounds {
            let log = DefectLog(isStrict: isStrict)
            let index = try SchemaIndex(documents, limits: limits, log: log, omitted: omitted)
            if log.unusable.isEmpty, refusesCaseConflicts { try CaseConflicts(index: index).refuse() }
            // Otherwise types are missing, which would cause false defects.
            let model = log.unusable.isEmpty ? try ModelBuilder(documents: documents, index: index).build() : nil
            if let model, log.unusable.isEmpty {
                if let first, !Self.isUsable(index) { throw first }
                return model
            }
            first = first ?? log.first
            omitted.remove(log, outOf: documents)
            documents = try reread(documents, first)
        }
        throw first
            ?? CSDLError(
                .tooDeep, "Too much of the document depends on the elements that are wrong.", line: 1, column: 1)
    }

    /// Reads the envelopes again after the trees have changed.
    private func reread(_ documents: [MetadataDocument], _ first: CSDLError?) throws(CSDLError) -> [MetadataDocument] {
        var result: [MetadataDocument] = []
        for document in documents {
            do throws(CSDLError) { result.append(try MetadataDocument(document.root)) } catch { throw first ?? error }
        }
        return result
    }

    /// Whether anything usable remains.
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
