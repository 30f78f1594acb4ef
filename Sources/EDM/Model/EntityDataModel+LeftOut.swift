/// Messages about elements that the document declares but the model omits.
extension EntityDataModel {
    /// Returns a sentence that the service has no such set, with the defect if the metadata declares an unusable one.
    ///
    /// - Parameter what: the subject and predicate of the sentence.
    package func missingResource(_ name: String, _ what: String = "There is no entity set") -> String {
        let kinds: Set<String> = ["EntitySet", "Singleton", "FunctionImport", "ActionImport"]
        return sentence("\(what) \(name)") { kinds.contains($0.kind) && $0.path.hasSuffix("/\(name)") }
    }

    /// Returns a sentence that a type has no such property, with the defect if the metadata declares an unusable one.
    ///
    /// - Parameter set: the entity set, for the sentence.
    package func missingProperty(_ name: String, of type: StructuredType, in set: String? = nil) -> String {
        let beginning = "\(set ?? type.name) has no property \(name)"
        guard type.unusableProperties.contains(name) else { return beginning + "." }
        let paths = ([type] + baseTypes(of: type)).map { "\($0.name)/\(name)" }
        return sentence(beginning) { paths.contains($0.path) }
    }

    private func sentence(_ beginning: String, _ isMeant: (MetadataDefect.LeftOut) -> Bool) -> String {
        guard let defect = defects.first(where: { $0.leftOut.map(isMeant) ?? false }) else { return beginning + "." }
        return beginning + ": its declaration in the metadata cannot be used (\(defect.fault))."
    }
}
