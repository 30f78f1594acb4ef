internal import EDM

extension SourceStyle {
    /// Returns the file with the class of the service.
    func service() -> GeneratedFile {
        var lines = [
            "/// The service of `\(DocComment.code(plan.namespace))`: its entity sets, each as functions that return its own"
                + " class,",
            "/// and its functions and actions.",
            "nonisolated \(open)class \(SwiftName.escaped(plan.serviceName)): DataService, @unchecked Sendable {",
        ]
        let classes = plan.entities.map {
            Layout.text("\(SwiftText.literal($0.type.name)): \(SwiftName.escaped($0.className)).self")
        }
        lines += Layout.group("private static let classes: [String: EntityValue.Type] = [", classes, "]", .literal)
            .lines(indentation: 4)
        lines += [
            "",
            "    \(open)override var entityClasses: [String: EntityValue.Type] { Self.classes }",
            "",
            "    \(open)override var hasOpenEnumerations: Bool? { \(plan.hasOpenEnumerations) }",
            "",
            "    \(open)override var embeddedMetadata: EmbeddedMetadata? { \(metadata) }",
        ]
        for set in plan.sets { lines += functions(of: set) }
        for singleton in plan.singletons { lines += functions(of: singleton) }
        for operation in plan.operations { lines += function(of: operation) }
        return file(plan.serviceName, lines + ["}"])
    }

    /// Returns a function that runs in the isolation of its caller, also in modules that do not make this the default,
    /// because the entities that it returns belong to the caller.
    func function(
        _ name: String, _ parameters: [Layout], returns result: String?, _ comment: [String], _ body: [String]
    ) -> [String] {
        let tail = ") async throws(TidelogError)" + (result.map { " -> " + $0 } ?? "") + " {"
        let head = "nonisolated(nonsending) \(access)func \(SwiftName.escaped(name))("
        var signature = Layout.group(head, parameters, tail, .signature).lines(indentation: 4)
        if parameters.isEmpty, let result, signature[0].count > Layout.width {
            signature = ["    \(head)) async throws(TidelogError)", "        -> \(result)", "    {"]
        }
        return [""] + comment + signature + body + ["    }"]
    }

    private static let headers = "headers: HTTPHeaders = .empty"

    private func functions(of set: ServicePlan.Set) -> [String] {
        let name = SwiftText.literal(set.set.name)
        let words = DocComment.code(set.set.name)
        let arguments = ["\(set.className).self", "in: \(name)", "query", "headers: headers"]
        let list = Layout.call("try await self.entities(", arguments).lines(indentation: 8)
        let first = Layout.call("try await self.firstEntity(", arguments).lines(indentation: 8)
        let all = DocComment.lines(
            "Returns the entities of `\(words)` that match the query, or all entities.", set.set.annotations,
            indentation: 4)
        let one = DocComment.lines(
            "Returns the first entity of `\(words)` that matches the query. Throws `notFound` if there is none.",
            indentation: 4)
        return function(
            set.list, [.text("query: DataQuery = DataQuery()"), .text(Self.headers)], returns: "[\(set.className)]",
            all, list)
            + function(
                set.fetchList, [.text("matching query: DataQuery = DataQuery()"), .text(Self.headers)],
                returns: "[\(set.className)]", all,
                list)
            + function(
                set.fetchOne, [.text("matching query: DataQuery = DataQuery()"), .text(Self.headers)],
                returns: set.className, one, first)
            + keyFunction(of: set)
    }

    private func keyFunction(of set: ServicePlan.Set) -> [String] {
        guard !set.key.isEmpty else { return [] }
        let words = DocComment.code(set.set.name)
        // A key property may have the same name.
        let headers = set.key.contains { $0.label == "headers" } ? "requestHeaders" : "headers"
        let labels = set.key.map { "\(SwiftName.label($0.label)): \(SwiftName.escaped($0.label))" }
        let arguments: [Layout] = [
            .text("\(set.className).self"), .text("in: \(SwiftText.literal(set.set.name))"),
            .call("key: \(set.className).key(", labels), .text(set.query), .text("headers: \(headers)"),
        ]
        return function(
            set.fetchOne,
            set.key.map { .text("\(SwiftName.parameter($0.label)): \($0.type)") } + [
                .text("\(set.query): DataQuery = DataQuery()"), .text("\(headers): HTTPHeaders = .empty"),
            ],
            returns: set.className,
            DocComment.lines(
                "Returns the entity of `\(words)` with the key. Throws `notFound` if there is none.",
                notes: ["- Parameter \(set.query): The properties to select and expand."], indentation: 4),
            Layout.group("try await self.entity(", arguments, ")", .call).lines(indentation: 8))
    }

    private func functions(of singleton: ServicePlan.Singleton) -> [String] {
        let name = SwiftText.literal(singleton.set.name)
        let comment = DocComment.lines(
            "Returns the singleton `\(DocComment.code(singleton.set.name))`.", singleton.set.annotations,
            notes: ["- Parameter query: The properties to select and expand."], indentation: 4)
        let arguments = ["\(singleton.className).self", "named: \(name)", "query", "headers: headers"]
        let body = Layout.call("try await self.singleton(", arguments).lines(indentation: 8)
        return function(
            singleton.get, [.text("query: DataQuery = DataQuery()"), .text(Self.headers)], returns: singleton.className,
            comment, body)
            + function(
                singleton.fetch, [.text("matching query: DataQuery = DataQuery()"), .text(Self.headers)],
                returns: singleton.className,
                comment,
                body)
    }
}
