/// What to say of what the model does not have although the document declares it.
extension EntityDataModel {
    /// A sentence that the service has no such set, and that the metadata declare one which cannot be used, if they do.
    ///
    /// - Parameter what: how the sentence calls what is missing.
    package func missingResource(_ name: String, _ what: String = "There is no entity set") -> String {
        let kinds: Set<String> = ["EntitySet", "Singleton", "FunctionImport", "ActionImport"]
        return sentence("\(what) \(name)") { kinds.contains($0.kind) && $0.path.hasSuffix("/\(name)") }
    }

    /// A sentence that a type has no such property, and that the metadata declare one which cannot be used, if they do.
    ///
    /// - Parameter set: of the entity, for the sentence.
    package func missingProperty(_ name: String, of type: StructuredType, in set: String? = nil) -> String {
        let beginning = "\(set ?? type.name) has no property \(name)"
        guard type.unusableProperties.contains(name) else { return beginning + "." }
        let paths = ([type] + baseTypes(of: type)).map { "\($0.name)/\(name)" }
        return sentence(beginning) { paths.contains($0.path) }
    }

    private func sentence(_ beginning: String, _ isMeant: (MetadataDefect.LeftOut) -> Bool) -> String {
        guard let defect = defects.first(where: { $0.leftOut.map(isMeant) ?? false }) else { return beginning + "." }
        return beginning + ": the metadata declare it in a way that cannot be used (\(defect.fault))."
    }
}
