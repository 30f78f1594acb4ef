internal import EDM

extension SourceStyle {
    /// The class of the service.
    func service() -> GeneratedFile {
        var lines = [
            "/// The service of `\(DocComment.code(plan.namespace))`: its entity sets, each as functions that return its own"
                + " class,",
            "/// and its functions and actions.",
            "nonisolated \(open)class \(SwiftName.escaped(plan.serviceName)): DataService {",
            "    private static let classes: [String: EntityValue.Type] = [",
        ]
        lines += plan.entities.map {
            "        \(SwiftText.literal($0.type.name)): \(SwiftName.escaped($0.className)).self,"
        }
        lines += [
            "    ]",
            "",
            "    \(open)override var entityClasses: [String: EntityValue.Type] { Self.classes }",
            "",
            "    \(open)override var hasOpenEnumerations: Bool? { \(plan.hasOpenEnumerations) }",
        ]
        for set in plan.sets { lines += functions(of: set) }
        for singleton in plan.singletons { lines += functions(of: singleton) }
        for operation in plan.operations { lines += function(of: operation) }
        return file(plan.serviceName, lines + ["}"])
    }

    /// They run where they are called from, also in modules that don't make this the default: a service is not `Sendable`.
    func function(
        _ name: String, _ parameters: [String], returns result: String?, _ comment: [String], _ body: [String]
    ) -> [String] {
        let tail = ") async throws(TidelogError)" + (result.map { " -> " + $0 } ?? "") + " {"
        let head = "    nonisolated(nonsending) \(access)func \(SwiftName.escaped(name))("
        return [""] + comment + Self.list(head, parameters, tail) + body + ["    }"]
    }

    private func functions(of set: ServicePlan.Set) -> [String] {
        let name = SwiftText.literal(set.set.name)
        let words = DocComment.code(set.set.name)
        let list = ["        try await self.entities(\(set.className).self, in: \(name), query)"]
        let first = ["        try await self.firstEntity(\(set.className).self, in: \(name), query)"]
        let all = DocComment.lines(
            "The entities of `\(words)` that the query asks for, all of them without one.", set.set.annotations,
            indentation: 4)
        let one = DocComment.lines(
            "The first entity of `\(words)` that the query asks for. Throws `notFound` where there is none.",
            indentation: 4)
        return function(set.list, ["query: DataQuery = DataQuery()"], returns: "[\(set.className)]", all, list)
            + function(
                set.fetchList, ["matching query: DataQuery = DataQuery()"], returns: "[\(set.className)]", all, list)
            + function(set.fetchOne, ["matching query: DataQuery = DataQuery()"], returns: set.className, one, first)
            + keyFunction(of: set)
    }

    private func keyFunction(of set: ServicePlan.Set) -> [String] {
        guard !set.key.isEmpty else { return [] }
        let words = DocComment.code(set.set.name)
        let labels = set.key.map { SwiftName.escaped($0.label) }
        let key = "\(set.className).key(\(labels.map { "\($0): \($0)" }.joined(separator: ", ")))"
        let arguments = ["\(set.className).self", "in: \(SwiftText.literal(set.set.name))", "key: \(key)", set.query]
        return function(
            set.fetchOne,
            zip(labels, set.key).map { "\($0): \($1.type)" } + ["\(set.query): DataQuery = DataQuery()"],
            returns: set.className,
            DocComment.lines(
                "The entity of `\(words)` that has the key. Throws `notFound` where there is none.",
                notes: ["- Parameter \(set.query): what to select and expand."], indentation: 4),
            Self.list("        try await self.entity(", arguments, ")"))
    }

    private func functions(of singleton: ServicePlan.Singleton) -> [String] {
        let name = SwiftText.literal(singleton.set.name)
        let comment = DocComment.lines(
            "The singleton `\(DocComment.code(singleton.set.name))`.", singleton.set.annotations,
            notes: ["- Parameter query: what to select and expand."], indentation: 4)
        let body = ["        try await self.singleton(\(singleton.className).self, named: \(name), query)"]
        return function(
            singleton.get, ["query: DataQuery = DataQuery()"], returns: singleton.className, comment, body)
            + function(
                singleton.fetch, ["matching query: DataQuery = DataQuery()"], returns: singleton.className, comment,
                body)
    }
}
