import Foundation

#if os(macOS) || os(Linux)
    /// Modules with the declarations of Apple's systems that the module `Transport` uses, for checks on other systems.
    ///
    /// `Transport` is compiled as for an Apple system. This shows that its sources are consistent with these
    /// declarations, not that they work.
    package enum URLSessionStub {
        /// Compiles `Transport` with the modules. Returns the errors; empty if there are none.
        ///
        /// - Parameter edit: Changes the text of a source file, for tests of this check.
        package static func errors(edit: (String, String) -> String = { $1 }) throws -> String {
            let directory = try compiled.get()
            let root = URL(filePath: #filePath).appending(path: "../../../Sources/Transport").standardized
            let paths = try FileManager.default.subpathsOfDirectory(atPath: root.path).filter { $0.hasSuffix(".swift") }
            let files = try paths.sorted().map { path in
                let text = try String(contentsOf: root.appending(path: path), encoding: .utf8)
                return (path.replacing("/", with: "-"), edit(path, text))
            }
            let result = try SwiftCompiler.run(
                ["-typecheck", "-module-name", "Transport", "-package-name", "tidelog", "-swift-version", "6"]
                    + ["-parse-as-library", "-warnings-as-errors", "-I", directory.path] + SwiftUIStub.features
                    + SwiftCompiler.searchPaths, files)
            return result.status == 0 ? "" : result.output
        }

        private struct Unexpected: Error { let output: String }

        /// The directory of the compiled modules.
        private static let compiled = Result {
            let directory = TemporaryDirectory.untilExit()
            for (name, text) in modules {
                let result = try SwiftCompiler.run(
                    ["-emit-module", "-module-name", name, "-o", "\(directory.path)/\(name).swiftmodule"]
                        + ["-I", directory.path, "-swift-version", "6", "-parse-as-library"],
                    [("\(name).swift", text)])
                guard result.status == 0 else { throw Unexpected(output: "\(name): \(result.output)") }
            }
            return directory
        }

        /// The modules in an order in which they can be compiled.
        private static let modules = [
            ("CoreFoundation", coreFoundation), ("Security", security), ("Foundation", foundation),
            ("Network", network), ("Darwin", "@_exported import Glibc\n"),
        ]

        private static let coreFoundation = """
            import FoundationEssentials

            public typealias CFAllocator = AnyObject
            public typealias CFArray = [Any]
            public typealias CFData = Data
            public typealias CFDictionary = [AnyHashable: Any]
            public typealias CFError = any Error
            public typealias CFString = String
            public typealias CFTypeRef = AnyObject
            public typealias OSStatus = Int32
            """

        private static let security = """
            @_exported import CoreFoundation

            public final class SecCertificate {}
            public final class SecIdentity {}
            public final class SecTrust {}

            public let errSecSuccess: OSStatus = 0
            public let kSecAttrLabel: CFString = ""
            public let kSecClass: CFString = ""
            public let kSecClassIdentity: CFString = ""
            public let kSecImportExportPassphrase: CFString = ""
            public let kSecImportItemCertChain: CFString = ""
            public let kSecImportItemIdentity: CFString = ""
            public let kSecMatchLimit: CFString = ""
            public let kSecMatchLimitOne: CFString = ""
            public let kSecReturnRef: CFString = ""

            public func SecCertificateCreateWithData(_ allocator: CFAllocator?, _ data: CFData) -> SecCertificate? {
                nil
            }
            public func SecCertificateCopyData(_ certificate: SecCertificate) -> CFData { fatalError() }
            public func SecTrustSetAnchorCertificates(_ trust: SecTrust, _ anchors: CFArray?) -> OSStatus { 0 }
            public func SecTrustSetAnchorCertificatesOnly(_ trust: SecTrust, _ isOnly: Bool) -> OSStatus { 0 }
            public func SecTrustEvaluateWithError(
                _ trust: SecTrust, _ error: UnsafeMutablePointer<CFError?>?
            ) -> Bool { false }
            public func SecTrustCopyCertificateChain(_ trust: SecTrust) -> CFArray? { nil }
            public func SecPKCS12Import(
                _ data: CFData, _ options: CFDictionary, _ items: UnsafeMutablePointer<CFArray?>
            ) -> OSStatus { 0 }
            public func SecItemCopyMatching(
                _ query: CFDictionary, _ result: UnsafeMutablePointer<CFTypeRef?>?
            ) -> OSStatus { 0 }
            """

        private static let network = """
            import Foundation

            public enum NWEndpoint {
                public struct Host { public init(_ text: String) {} }
                public struct Port { public init?(rawValue: UInt16) {} }
                case hostPort(host: Host, port: Port)
            }
            public enum NWProtocolTLS { public final class Options {} }
            public struct ProxyConfiguration {
                public init(httpCONNECTProxy: NWEndpoint, tlsOptions: NWProtocolTLS.Options? = nil) {}
                public var excludedDomains: [String] = []
                public mutating func applyCredential(username: String, password: String) {}
            }
            extension URLSessionConfiguration {
                public var proxyConfigurations: [ProxyConfiguration] { get { [] } set {} }
            }
            """
    }
#endif
