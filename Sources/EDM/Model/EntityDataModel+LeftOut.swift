/// Messages about elements that the document declares but the model omits.
extension EntityDataModel {
    /// Returns the message for an unknown set, singleton or import. Contains the defect if the metadata declares an
    /// unusable one.
    ///
    /// - Parameters:
    ///   - name: the name that was not found.
    ///   - what: the subject and predicate of the message.
    package func missingResource(_ name: String, _ what: String = "There is no entity set") -> String {
        let kinds: Set<String> = ["EntitySet", "Singleton", "FunctionImport", "ActionImport"]
        return sentence("\(what) \(name)") { kinds.contains($0.kind) && $0.path.hasSuffix("/\(name)") }
    }

    /// Returns the message for an unknown property. Contains the defect if the metadata declares an unusable one.
    ///
    /// - Parameters:
    ///   - name: the name that was not found.
    ///   - type: the type of the entity.
    ///   - set: the entity set that the message names instead of the type.
    package func missingProperty(_ name: String, of type: StructuredType, in set: String? = nil) -> String {
        let beginning = "\(set ?? type.name) has no property \(name)"
        guard type.unusableProperties.contains(name) else { return beginning + "." }
        let paths = ([type] + baseTypes(of: type)).map { "\($0.name)/\(name)" }
        return sentence(beginning) { paths.contains($0.path) }
    }

    private func sentence(_ beginning: String, _ isMeant: (MetadataDefect.OmittedElement) -> Bool) -> String {
        guard let defect = defects.first(where: { $0.omitted.map(isMeant) ?? false }) else { return beginning + "." }
        return beginning + ": its declaration in the metadata cannot be used (\(defect.fault))."
    }
}
