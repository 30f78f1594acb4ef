import Foundation
import Testing

/// The public declarations of the package: those that apps need. Everything else is `package`.
@Suite struct PublicSurfaceTests {
    /// Modules of which apps see a part with `import Tidelog`, with the public top-level declarations of each.
    private static let exported: [String: Set<String>] = [
        "ODataQuery": ["KeyPredicate"],
        "ODataWire": [
            "BatchCondition", "HTTPHeaders", "ServiceOptions",
            // For the library `ODataSandbox`.
            "DeltaForm", "WireRequest", "WireResponse",
        ],
        "Operations": [
            "BatchID", "ConflictDecision", "Delivery", "DownloadMode", "EntityID", "OpenLink", "QuarantinedEntity",
            "Refusal",
            "SequenceNumber", "Timestamp", "IncompatibleOperation", "UploadCategory", "UploadPostponed",
        ],
        "OperationLog": ["LogKey"],
        "SyncCore": [
            "Conflict", "ConflictPolicy", "ConflictResolution", "DefiningQuerySettings", "DownloadCounts",
            "EntityIndex",
            "ListDifference", "OperationRefused", "QuarantineEntry", "RetryPolicy",
        ],
        "OfflineStore": [
            "AuditWindow", "AwaitedBatch", "ChangeCause", "ConflictHandling", "DoubtSettlement", "DownloadReport",
            "EntityAddress", "ErrorArchiveEntry", "ErrorClass", "IncompatibleMetadata", "LiveQuery", "LiveResult",
            "LocalStream", "MetadataRefresh", "PointInTime", "ResultIdentity", "SnapshotPolicy", "StoreCompaction",
            "StoreSnapshot", "TidelogError", "UndoReport", "UndoTarget", "UnusableQuery", "UploadOptions",
            "UploadReport",
            // For the library `LogInspection`.
            "HistoricalStore",
        ],
        "SyncEngine": [
            "AuthenticationChallenge", "AuthenticationHook", "DownloadOptions", "ProgressMessage", "ServiceLimits",
            "SyncProgress", "SyncStep",
        ],
        "Views": ["QueryExplanation"],
    ]

    /// The other modules that `Tidelog` exports. They are made for apps as a whole.
    private static let exportedEntirely: Set<String> = ["EDM", "Transport"]

    private static var allExported: Set<String> { exportedEntirely.union(exported.keys) }

    /// The exports of `Tidelog`, as they are written after `import`.
    private static func exports() throws -> [String] {
        try PackageSources.swiftFiles("Sources").sorted().flatMap { file in
            try PackageSources.text(file).matches(of: /@_exported\s+(?:public\s+)?import ((?:\w+ )?[\w.]+)/)
                .map { String($0.1) }
        }
    }

    @Test func `Tidelog exports whole modules of this package, and no single names`() throws {
        #expect(try Set(Self.exports()) == Self.allExported)
    }

    @Test func `only libraries and modules that Tidelog exports have public declarations`() throws {
        let manifest = try PackageSources.text("Package.swift")
        let libraries = manifest.matches(of: /\.library\(name: "\w+", targets: \[([^\]]*)\]\)/).flatMap {
            $0.1.matches(of: /"(\w+)"/).map { String($0.1) }
        }
        #expect(libraries.contains("Tidelog") && libraries.contains("LogInspection"))
        var open: Set<String> = []
        for module in try PackageSources.folders() where try !Self.publicNames(of: module).isEmpty {
            open.insert(module)
        }
        #expect(open == Set(libraries).union(Self.allExported))
    }

    @Test func `an exported module has no public declaration except for the listed ones`() throws {
        for (module, allowed) in Self.exported {
            #expect(try Self.publicNames(of: module) == allowed, "\(module)")
        }
    }

    @Test func `the API reference contains the modules that Tidelog exports`() throws {
        let list = try #require(try PackageSources.text("Tools/docs").firstMatch(of: /\nexported=([\w,]+)\n/))
        #expect(Set(list.1.split(separator: ",").map(String.init)) == Self.allExported)
    }

    // MARK: Reading declarations

    /// Returns the top-level declarations of a module that are public or have a public member, by name. An extension
    /// has the name of its type.
    private static func publicNames(of module: String) throws -> Set<String> {
        try PackageSources.swiftFiles("Sources/\(module)").reduce(into: []) { names, file in
            names.formUnion(publicNames(in: try PackageSources.text(file)))
        }
    }

    private static func publicNames(in text: String) -> Set<String> {
        let declaration =
            /^(?:@\w+(?:\([^)]*\))? )*(?:(?:public|open|package|private|fileprivate|final|indirect|nonisolated) )*(?:struct|class|enum|actor|extension|protocol|typealias|func|let|var) `?(\w+)/
        let publicMember =
            /^\s*(?:@\w+(?:\([^)]*\))? )*(?:[a-z]+ )*(?:public|open) (?:[a-z]+(?:\([a-z]+\))? )*(?:struct|class|enum|actor|extension|protocol|typealias|func|let|var|init|subscript|indirect|macro|operator|precedencegroup)\b/
        var names: Set<String> = []
        var current = ""
        for line in text.split(separator: "\n") {
            if line.first != " ", let found = line.firstMatch(of: declaration) { current = String(found.1) }
            guard line.contains("public ") || line.contains("open ") else {
                continue
            }
            if line.firstMatch(of: publicMember) != nil { names.insert(current) }
        }
        return names
    }

    @Test func `the reader finds public types, members of extensions, and nothing in comments`() {
        let text = """
            public import EDM
            /// A public type.
            public struct One {}
            package struct Two {
                package let three: Int
            }
            extension Four {
                @discardableResult public static func five() -> Int { 5 }
            }
            nonisolated public let six = 6
            struct Seven {
                // public let eight = 8
                let text = "public let eight"
                func nine(_ open: Int) { let open = open }
            }
            """
        #expect(Self.publicNames(in: text) == ["One", "Four", "six"])
    }
}
