#if os(macOS) || os(Linux)
    extension URLSessionStub {
        /// The declarations of `Foundation` that FoundationEssentials lacks.
        static let foundation = """
            @_exported import CoreFoundation
            @_exported import FoundationEssentials
            import Security

            public protocol NSObjectProtocol: AnyObject {}
            open class NSObject: NSObjectProtocol { public init() {} }
            public final class NSLock: NSObject, @unchecked Sendable {
                public func withLock<R>(_ body: () throws -> R) rethrows -> R { try body() }
            }
            public final class OperationQueue: NSObject {}

            // MARK: Requests and responses

            public struct URLRequest: Sendable {
                public init(url: URL) {}
                public var url: URL?
                public var httpMethod: String?
                public var httpBody: Data?
                public mutating func addValue(_ value: String, forHTTPHeaderField field: String) {}
                public mutating func setValue(_ value: String?, forHTTPHeaderField field: String) {}
            }
            open class URLResponse: NSObject, @unchecked Sendable { public var url: URL? { nil } }
            open class HTTPURLResponse: URLResponse, @unchecked Sendable {
                public var statusCode: Int { 0 }
                public var allHeaderFields: [AnyHashable: Any] { [:] }
            }
            public struct URLError: Error {
                public struct Code: RawRepresentable, Hashable, Sendable {
                    public var rawValue: Int
                    public init(rawValue: Int) { self.rawValue = rawValue }
                    public static let cancelled = Code(rawValue: 1)
                    public static let badURL = Code(rawValue: 2)
                    public static let unsupportedURL = Code(rawValue: 3)
                    public static let cannotFindHost = Code(rawValue: 4)
                    public static let dnsLookupFailed = Code(rawValue: 5)
                    public static let cannotConnectToHost = Code(rawValue: 6)
                    public static let notConnectedToInternet = Code(rawValue: 7)
                    public static let internationalRoamingOff = Code(rawValue: 8)
                    public static let dataNotAllowed = Code(rawValue: 9)
                    public static let secureConnectionFailed = Code(rawValue: 10)
                    public static let serverCertificateUntrusted = Code(rawValue: 11)
                    public static let serverCertificateHasBadDate = Code(rawValue: 12)
                    public static let serverCertificateNotYetValid = Code(rawValue: 13)
                    public static let serverCertificateHasUnknownRoot = Code(rawValue: 14)
                    public static let clientCertificateRejected = Code(rawValue: 15)
                    public static let clientCertificateRequired = Code(rawValue: 16)
                    public static let appTransportSecurityRequiresSecureConnection = Code(rawValue: 17)
                    public static let timedOut = Code(rawValue: 18)
                    public static let networkConnectionLost = Code(rawValue: 19)
                    public static let badServerResponse = Code(rawValue: 20)
                    public static let cannotParseResponse = Code(rawValue: 21)
                    public static let cannotDecodeContentData = Code(rawValue: 22)
                    public static let cannotDecodeRawData = Code(rawValue: 23)
                }
                public var code: Code { Code(rawValue: 0) }
            }

            // MARK: Cookies and credentials

            open class HTTPCookie: NSObject, @unchecked Sendable {
                public var name: String { "" }
                public var value: String { "" }
                public static func cookies(
                    withResponseHeaderFields fields: [String: String], for url: URL
                ) -> [HTTPCookie] { [] }
            }
            open class HTTPCookieStorage: NSObject, @unchecked Sendable {
                public func cookies(for url: URL) -> [HTTPCookie]? { nil }
                public func setCookies(_ cookies: [HTTPCookie], for url: URL?, mainDocumentURL: URL?) {}
            }
            open class URLCache: NSObject, @unchecked Sendable {}
            public let NSURLAuthenticationMethodServerTrust = ""
            public let NSURLAuthenticationMethodClientCertificate = ""
            open class URLProtectionSpace: NSObject, @unchecked Sendable {
                public var authenticationMethod: String { "" }
                public var host: String { "" }
                public var port: Int { 0 }
                public var serverTrust: SecTrust? { nil }
                public func isProxy() -> Bool { false }
            }
            open class URLAuthenticationChallenge: NSObject, @unchecked Sendable {
                public var protectionSpace: URLProtectionSpace { fatalError() }
            }
            open class URLCredential: NSObject, @unchecked Sendable {
                public enum Persistence: Sendable { case none, forSession, permanent, synchronizable }
                public init(trust: SecTrust) {}
                public init(identity: SecIdentity, certificates: [Any]?, persistence: Persistence) {}
            }

            // MARK: Sessions

            open class URLSessionConfiguration: NSObject, @unchecked Sendable {
                public enum CachePolicy: Sendable { case useProtocolCachePolicy, reloadIgnoringLocalCacheData }
                public static var ephemeral: URLSessionConfiguration { fatalError() }
                public static func background(withIdentifier identifier: String) -> URLSessionConfiguration {
                    fatalError()
                }
                public var httpShouldSetCookies = true
                public var httpMaximumConnectionsPerHost = 6
                public var httpCookieStorage: HTTPCookieStorage?
                public var requestCachePolicy = CachePolicy.useProtocolCachePolicy
                public var urlCache: URLCache?
                public var timeoutIntervalForRequest: TimeInterval = 0
                public var timeoutIntervalForResource: TimeInterval = 0
                public var connectionProxyDictionary: [AnyHashable: Any]?
                public var sessionSendsLaunchEvents = false
                public var isDiscretionary = false
            }
            open class URLSessionTask: NSObject, @unchecked Sendable {
                public var originalRequest: URLRequest? { nil }
                public var response: URLResponse? { nil }
                public var taskDescription: String? { get { nil } set {} }
                public var countOfBytesReceived: Int64 { 0 }
                public func cancel() {}
                public func resume() {}
            }
            open class URLSessionDataTask: URLSessionTask, @unchecked Sendable {}
            open class URLSessionUploadTask: URLSessionDataTask, @unchecked Sendable {}
            open class URLSessionDownloadTask: URLSessionTask, @unchecked Sendable {}

            open class URLSession: NSObject, @unchecked Sendable {
                public enum AuthChallengeDisposition: Sendable {
                    case useCredential, performDefaultHandling, cancelAuthenticationChallenge, rejectProtectionSpace
                }
                public struct AsyncBytes: AsyncSequence, Sendable {
                    public typealias Element = UInt8
                    public struct AsyncIterator: AsyncIteratorProtocol {
                        public mutating func next() async throws -> UInt8? { nil }
                    }
                    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator() }
                    public var task: URLSessionDataTask { fatalError() }
                }
                public init(configuration: URLSessionConfiguration) {}
                public init(
                    configuration: URLSessionConfiguration, delegate: (any URLSessionDelegate)?,
                    delegateQueue: OperationQueue?
                ) {}
                public var configuration: URLSessionConfiguration { fatalError() }
                public func finishTasksAndInvalidate() {}
                public func bytes(
                    for request: URLRequest, delegate: (any URLSessionTaskDelegate)? = nil
                ) async throws -> (AsyncBytes, URLResponse) { fatalError() }
                public func uploadTask(with request: URLRequest, fromFile file: URL) -> URLSessionUploadTask {
                    fatalError()
                }
                public func downloadTask(with request: URLRequest) -> URLSessionDownloadTask { fatalError() }
                public func getAllTasks(completionHandler: @escaping @Sendable ([URLSessionTask]) -> Void) {}
            }

            // MARK: Delegates. A method without a default is one that each delegate of the module has.

            public protocol URLSessionDelegate: NSObjectProtocol, Sendable {
                func urlSessionDidFinishEvents(forBackgroundURLSession session: URLSession)
            }
            extension URLSessionDelegate {
                public func urlSessionDidFinishEvents(forBackgroundURLSession session: URLSession) {}
            }
            public protocol URLSessionTaskDelegate: URLSessionDelegate {
                func urlSession(
                    _ session: URLSession, task: URLSessionTask,
                    willPerformHTTPRedirection response: HTTPURLResponse, newRequest request: URLRequest,
                    completionHandler: @escaping @Sendable (URLRequest?) -> Void)
                func urlSession(
                    _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
                    completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?)
                        -> Void)
                func urlSession(
                    _ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?)
            }
            extension URLSessionTaskDelegate {
                public func urlSession(
                    _ session: URLSession, task: URLSessionTask,
                    willPerformHTTPRedirection response: HTTPURLResponse, newRequest request: URLRequest,
                    completionHandler: @escaping @Sendable (URLRequest?) -> Void
                ) {}
                public func urlSession(
                    _ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?
                ) {}
            }
            public protocol URLSessionDataDelegate: URLSessionTaskDelegate {
                func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data)
            }
            public protocol URLSessionDownloadDelegate: URLSessionTaskDelegate {
                func urlSession(
                    _ session: URLSession, downloadTask: URLSessionDownloadTask,
                    didFinishDownloadingTo location: URL)
                func urlSession(
                    _ session: URLSession, downloadTask: URLSessionDownloadTask, didWriteData bytesWritten: Int64,
                    totalBytesWritten: Int64, totalBytesExpectedToWrite: Int64)
            }
            """
    }
#endif
