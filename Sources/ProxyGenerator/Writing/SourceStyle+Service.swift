internal import EDM

extension SourceStyle {
    /// The class of the service.
    func service() -> GeneratedFile {
        var lines = [
            "/// The entity sets of `\(SwiftText.comment(plan.namespace))`, each as functions that return its own class.",
            "nonisolated \(open)class \(plan.serviceName): DataService {",
            "    private static let classes: [String: EntityValue.Type] = [",
        ]
        lines += plan.entities.map { "        \(SwiftText.literal($0.type.name)): \($0.className).self," }
        lines += [
            "    ]",
            "",
            "    \(open)override var entityClasses: [String: EntityValue.Type] { Self.classes }",
        ]
        for set in plan.sets { lines += [""] + functions(of: set) }
        return file(plan.serviceName, lines + ["}"])
    }

    /// They run where they are called from, also in modules that don't make this the default: a service is not `Sendable`.
    private func functions(of set: ServicePlan.Set) -> [String] {
        let name = SwiftText.literal(set.name)
        let words = SwiftText.comment(set.name)
        func function(_ name: String, _ label: String, _ result: String, _ body: String) -> [String] {
            [
                "    nonisolated(nonsending) \(access)func \(SwiftName.escaped(name))(",
                "        \(label): DataQuery = DataQuery()",
                "    ) async throws(TidelogError) -> \(result) {",
                "        try await \(body)",
                "    }",
            ]
        }
        let list = "entities(\(set.className).self, in: \(name), query)"
        let first = "firstEntity(\(set.className).self, in: \(name), query)"
        return ["    /// The entities of `\(words)` that the query asks for, all of them without one."]
            + function(set.list, "query", "[\(set.className)]", list)
            + ["", "    /// The entities of `\(words)` that the query asks for, all of them without one."]
            + function(set.fetchList, "matching query", "[\(set.className)]", list)
            + [
                "",
                "    /// The first entity of `\(words)` that the query asks for. Throws `notFound` where there is none.",
            ]
            + function(set.fetchOne, "matching query", set.className, first)
    }
}
