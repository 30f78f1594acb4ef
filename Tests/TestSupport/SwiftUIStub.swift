import Foundation
import Synchronization

#if os(macOS) || os(Linux)
    /// A module `SwiftUI` with the declarations that the property wrapper and samples use, for checks on systems without
    /// SwiftUI.
    ///
    /// It shows that the sources are consistent with these declarations, not that views are updated.
    package struct SwiftUIStub {
        /// The isolation of SwiftUI's protocol `DynamicProperty`, which differs between versions of the SDK.
        package enum Isolation: String, CaseIterable, Sendable {
            case nonisolated = ""
            case mainActor = "@MainActor"
        }

        /// Directory of the modules `SwiftUI` and `TidelogUI`.
        private let directory = TemporaryDirectory.untilExit()
        /// The errors of the compilation of `TidelogUI` with this module; empty if there are none.
        package private(set) var errors = ""

        private static let compiled = Mutex<[Isolation: SwiftUIStub]>([:])

        /// Returns the modules, which the first call for an isolation compiles.
        package static func shared(_ isolation: Isolation = .nonisolated) throws -> SwiftUIStub {
            try compiled.withLock { compiled in
                if let stub = compiled[isolation] { return stub }
                let stub = try SwiftUIStub(isolation)
                compiled[isolation] = stub
                return stub
            }
        }

        /// Compiles the module, and `TidelogUI` with it.
        private init(_ isolation: Isolation) throws {
            let stub = try SwiftCompiler.run(
                ["-emit-module", "-module-name", "SwiftUI", "-o", "\(directory.path)/SwiftUI.swiftmodule"] + Self.mode,
                [("SwiftUI.swift", Self.declarations(isolation))])
            guard stub.status == 0 else {
                errors = stub.output
                return
            }
            let root = URL(filePath: #filePath).appending(path: "../../..").standardized
            let folder = root.appending(path: "Sources/TidelogUI")
            let files = try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted().map { name in
                (name, try String(contentsOf: folder.appending(path: name), encoding: .utf8))
            }
            let module = try SwiftCompiler.run(
                ["-emit-module", "-module-name", "TidelogUI", "-o", "\(directory.path)/TidelogUI.swiftmodule"]
                    + Self.mode + Self.features + searchPaths, files)
            if module.status != 0 { errors = module.output }
        }

        /// Arguments for a compilation with the module.
        package var searchPaths: [String] { ["-I", directory.path] + SwiftCompiler.searchPaths }

        private static let mode = ["-swift-version", "6", "-parse-as-library", "-warnings-as-errors"]

        /// The settings of the manifest.
        package static let features = [
            "ExistentialAny", "MemberImportVisibility", "InternalImportsByDefault", "NonisolatedNonsendingByDefault",
        ].flatMap { ["-enable-upcoming-feature", $0] }

        private static func declarations(_ isolation: Isolation) -> String {
            """
            @_exported import Observation

            \(isolation.rawValue) public protocol DynamicProperty { mutating func update() }
            extension DynamicProperty { public mutating func update() {} }

            public protocol EnvironmentKey {
                associatedtype Value
                static var defaultValue: Value { get }
            }
            public struct EnvironmentValues {
                public subscript<K: EnvironmentKey>(key: K.Type) -> K.Value { get { fatalError() } set {} }
            }
            @propertyWrapper public struct Environment<Value>: DynamicProperty {
                public init(_ path: KeyPath<EnvironmentValues, Value>) {}
                public var wrappedValue: Value { fatalError() }
            }
            @propertyWrapper public struct State<Value>: DynamicProperty {
                public init(wrappedValue: Value) {}
                public var wrappedValue: Value { get { fatalError() } nonmutating set {} }
            }

            @resultBuilder public enum ViewBuilder {
                public static func buildBlock<Content: View>(_ content: Content) -> Content { content }
                public static func buildEither<Content: View>(first: Content) -> Content { first }
                public static func buildEither<Content: View>(second: Content) -> Content { second }
            }
            @MainActor @preconcurrency public protocol View {
                associatedtype Body: View
                @ViewBuilder var body: Body { get }
            }
            extension Never: View { public var body: Never { fatalError() } }
            public struct Text: View {
                public init(_ text: some StringProtocol) {}
                public var body: Never { fatalError() }
            }
            public struct List<Item: Identifiable, Row: View>: View {
                public init(_ items: [Item], @ViewBuilder row: @escaping (Item) -> Row) {}
                public var body: Never { fatalError() }
            }
            extension View {
                public func environment<Value>(_ path: WritableKeyPath<EnvironmentValues, Value>, _ value: Value)
                    -> some View { self }
                public func task(_ action: @escaping @MainActor @Sendable () async -> Void) -> some View { self }
            }
            """
        }
    }
#endif
