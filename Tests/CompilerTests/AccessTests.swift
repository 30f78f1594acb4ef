import TestSupport
import Testing

#if os(Linux)
    /// The declarations that a module outside of the package can use.
    @Suite(.enabled(if: SwiftCompiler.path != nil, "skipped: there is no compiler"), .timeLimit(.minutes(30)))
    struct `Access from an app` {
        private func errors(_ source: String) throws -> String {
            let options = ["-typecheck", "-swift-version", "6", "-parse-as-library", "-diagnostic-style", "llvm"]
            let result = try SwiftCompiler.run(
                options + SwiftCompiler.searchPaths, [(name: "App.swift", text: source)])
            return result.status == 0 ? "" : result.output
        }

        @Test func `a declaration of the implementation is not visible, even if its module is imported`() throws {
            let modules = [
                "OfflineStore": ["LocalStore", "Intent"], "SyncCore": ["UploadPlanner"], "OperationLog": ["LogReader"],
                "Operations": ["RecordCodec"], "ODataWire": ["RequestEncoder"],
                "ODataQuery": ["QueryOptions"], "Views": ["SQLiteState"],
                "Tidelog": ["ServiceBackend", "QueryRequest"],
            ]
            var lines = ["import Tidelog"] + modules.keys.sorted().map { "import \($0)" }
            let names = modules.values.flatMap(\.self)
            for name in names { lines.append("func use\(name)(_ value: Any) -> Bool { value is any \(name) }") }
            let found = try errors(lines.joined(separator: "\n"))
            for name in names { #expect(found.contains("error: cannot find type '\(name)' in scope"), "\(found)") }
        }

        @Test func `services are subclassed, and providers wrapped`() throws {
            let found = try errors(
                """
                import Tidelog

                final class Wrapped: DataServiceProvider {
                    let other: any DataServiceProvider
                    init(_ other: any DataServiceProvider) { self.other = other }
                    var loadedModel: EntityDataModel? { other.loadedModel }
                    var backend: ProviderBackend { other.backend }
                }

                class Shop: DataService, @unchecked Sendable {}

                func services(_ store: OfflineODataProvider, _ online: OnlineODataProvider) -> [DataService] {
                    let given: any DataServiceProvider = store
                    return [
                        Shop(provider: store), Shop(provider: online), Shop(provider: given),
                        DataService(provider: Wrapped(online)),
                    ]
                }
                """)
            #expect(found.isEmpty, "\(found)")
        }

        @Test func `a provider of an app has no backend of its own`() throws {
            let found = try errors(
                """
                import Tidelog

                final class Own: DataServiceProvider {
                    var loadedModel: EntityDataModel? { nil }
                    var backend: ProviderBackend { ProviderBackend(self) }
                }
                """)
            #expect(found.contains("error: 'ProviderBackend' initializer is inaccessible"), "\(found)")
        }

        @Test func `an operand of a query has the expression of a different operand`() throws {
            let found = try errors(
                """
                import Tidelog

                struct Own: QueryOperand {
                    let other: QueryPath
                    var queryExpression: QueryExpression { other.queryExpression }
                    var queryType: TypeReference? { other.queryType }
                }

                func compute(_ path: QueryPath) -> DataQuery { DataQuery().compute(Own(other: path), as: "x") }
                """)
            #expect(found.isEmpty, "\(found)")
        }
    }
#endif
