import CCurl
import HTTPTypes
import Synchronization

/// One request in flight, including the redirects that it follows.
///
/// `@unchecked Sendable` because only the loop's thread accesses its variables; the buffer, the flag and the location
/// are thread-safe themselves.
final class CurlTransfer: @unchecked Sendable {
    let buffer: ResponseBuffer
    let isCancelled = Atomic(false)
    /// The URL after redirects; `nil` before the first.
    let location = Mutex<String?>(nil)

    private let request: OutgoingRequest
    let options: TransportOptions
    private let use: ResponseMeter.BodyUse
    private(set) var url: RequestURL
    private var parser = ResponseHeadParser()
    /// The body of a response that may be a redirect, held until that is known.
    private var held: [UInt8]?
    /// `nil` until the head is complete.
    private var meter: ResponseMeter?
    /// Whether the rest of the body was discarded, and the response is complete without it.
    private var isCut = false
    private var headWait: HeadTimeout
    private var redirects = 0
    var failure: TransportError?

    private(set) var easy: OpaquePointer?
    private var headerList: OpaquePointer?
    private let errorText: UnsafeMutablePointer<CChar>
    private let body: UnsafeMutableBufferPointer<UInt8>
    /// The open file, while the body is read from a file.
    private var file: (any OpenContent)?

    init(
        _ request: OutgoingRequest, _ options: TransportOptions, _ use: ResponseMeter.BodyUse = .buffered,
        buffer: ResponseBuffer
    ) {
        self.request = request
        self.options = options
        self.use = use
        headWait = HeadTimeout(options.limits.headTimeout)
        self.buffer = buffer
        url = request.url
        errorText = .allocate(capacity: Int(CCURL_ERROR_SIZE))
        errorText.initialize(repeating: 0, count: Int(CCURL_ERROR_SIZE))
        body = .allocate(capacity: max(request.body.count, 1))
        _ = body.initialize(from: request.body)
    }

    deinit {
        errorText.deallocate()
        body.deallocate()
    }

    /// Creates the handle. Returns `nil` and fails the transfer if that is not possible.
    ///
    /// - Parameter resume: Called when the content of the request has bytes again after a pause.
    func open(share: OpaquePointer, resume: @escaping @Sendable () -> Void) -> OpaquePointer? {
        guard let easy = ccurl_easy_create() else {
            close(.failure(error(.other, "libcurl is out of memory", sent: false)))
            return nil
        }
        if let source = request.file {
            guard let opened = source.open(resume: resume) else {
                ccurl_easy_destroy(easy)
                close(.failure(source.unreadable))
                return nil
            }
            file = opened
        }
        self.easy = easy
        let context = Unmanaged.passUnretained(self).toOpaque()
        ccurl_set_pointer(easy, CCURL_ERRORBUFFER, errorText)
        // In a relay, the cookies of one client must not reach the requests of another.
        if !options.isRelay {
            ccurl_set_pointer(easy, CCURL_SHARE, UnsafeRawPointer(share))
            ccurl_set_string(easy, CCURL_COOKIEFILE, "")
            ccurl_set_string(easy, CCURL_ACCEPT_ENCODING, "")
        }
        ccurl_set_long(easy, CCURL_NOSIGNAL, 1)
        ccurl_set_long(easy, CCURL_PATH_AS_IS, 1)
        ccurl_set_long(easy, CCURL_SUPPRESS_CONNECT_HEADERS, 1)
        if let reason = options.connection.apply(to: easy, isLoopback: url.origin.isLoopback) {
            close(.failure(error(.tls, reason, sent: false)))
            return nil
        }
        if options.connection.serverTrust.check != nil, !setTrustCheck(easy) {
            close(.failure(error(.tls, "libcurl 7.80 or later is required to check certificates", sent: false)))
            return nil
        }
        setTimeouts(easy)
        setRequest(easy)
        ccurl_set_pointer(easy, CCURL_WRITEDATA, context)
        ccurl_set_pointer(easy, CCURL_HEADERDATA, context)
        ccurl_set_callback(easy, CCURL_WRITEFUNCTION) { bytes, size, count, context in
            CurlTransfer.from(context).receive(body: UnsafeRawBufferPointer(start: bytes, count: size * count))
        }
        ccurl_set_callback(easy, CCURL_HEADERFUNCTION) { bytes, size, count, context in
            CurlTransfer.from(context).receive(headerLine: UnsafeRawBufferPointer(start: bytes, count: size * count))
        }
        return easy
    }

    /// Completes the transfer after the handle was removed from the loop. Returns `true` if it must be added again,
    /// for a redirect.
    func finish(_ result: Int32) -> Bool {
        guard let easy else { return false }
        if let failure {
            close(.failure(failure))
        } else if result != CCURL_OK, !isCut {
            if let refusal = proxyRefusal(easy) {
                close(.failure(error(.unreachable, refusal, sent: false)))
                return false
            }
            let isTooLarge = CurlResult.isTooLarge(
                result, detail: String(cString: errorText), inHead: parser.head == nil)
            let code = isTooLarge ? .tooLarge : CurlResult.code(result)
            // For a long header, libcurl itself reports that it is out of memory.
            let shown = isTooLarge ? 0 : result
            close(.failure(error(code, CurlResult.sentence(code), sent: mayHaveBeenSent(code), shown)))
        } else if let head = parser.head {
            if !options.isRelay, let location = ccurl_get_string(easy, CCURL_REDIRECT_URL).map({ String(cString: $0) })
            {
                switch request.decision(status: head.status.code, location: location) {
                case .returnResponse: break
                case .follow: return follow(location)
                case .refuse(let target):
                    let sentence = "the service redirected the request to \(target), which has another origin"
                    let wasDone = OutgoingRequest.mayHaveBeenDone(status: head.status.code)
                    close(.failure(error(.redirectRefused, sentence, sent: wasDone)))
                    return false
                }
            }
            let field = options.isRelay ? nil : Self.errorField(of: head)
            if head.status.kind == .successful, let words = parser.errorTrailer ?? field {
                let sentence = "the service failed while it wrote the response (OData-Error: \(Self.shortened(words)))"
                close(.failure(error(.errorTrailer, sentence, sent: true)))
                return false
            }
            if let held {
                buffer.receive(head: head)
                _ = held.withUnsafeBytes { buffer.receive($0) }
            }
            close(.success(()))
        } else {
            close(.failure(error(.protocolViolation, "no response was received", sent: true)))
        }
        return false
    }

    func cancel() {
        close(.failure(error(.cancelled, "it was cancelled", sent: mayHaveBeenSent(.cancelled))))
    }

    /// Returns the remaining time for the head of the response, or `nil` if it is complete or has no limit.
    func timeForHead(_ now: ContinuousClock.Instant) -> Duration? {
        guard let easy, parser.head == nil else { return nil }
        return headWait.left(now, sent: ccurl_get_offset(easy, CCURL_SIZE_UPLOAD))
    }

    /// Fails a transfer that was removed from the loop because the head of its response took too long.
    func timeOut() { close(.failure(error(.timeout, "the response head was not received in time", sent: true))) }

    func fail(_ sentence: String) { close(.failure(error(.other, sentence, sent: mayHaveBeenSent(.other)))) }

    private static func errorField(of head: HTTPResponse) -> String? {
        head.headerFields.first { $0.name.canonicalName == "odata-error" }?.value
    }

    /// Truncates a text of unbounded length and removes control characters.
    private static func shortened(_ words: String) -> String {
        let shown = words.unicodeScalars.prefix(300).filter { $0.value >= 0x20 && $0.value != 0x7F }
        return String(String.UnicodeScalarView(shown))
    }

    private func close(_ end: Result<Void, TransportError>) {
        if let easy { ccurl_easy_destroy(easy) }
        easy = nil
        ccurl_slist_destroy(headerList)
        headerList = nil
        buffer.finish(end)
    }
}

extension CurlTransfer {
    static func from(_ context: UnsafeMutableRawPointer?) -> CurlTransfer {
        guard let context else { preconditionFailure("a callback was called without its transfer") }
        return Unmanaged<CurlTransfer>.fromOpaque(context).takeUnretainedValue()
    }

    private func setTimeouts(_ easy: OpaquePointer) {
        let limits = options.limits
        ccurl_set_long(easy, CCURL_CONNECTTIMEOUT_MS, limits.connectTimeout.wholeMilliseconds)
        let total = use == .media ? limits.mediaTimeout : limits.totalTimeout
        if let total { ccurl_set_long(easy, CCURL_TIMEOUT_MS, total.wholeMilliseconds) }
        if let idle = limits.idleTimeout {
            ccurl_set_long(easy, CCURL_LOW_SPEED_LIMIT, max(1, limits.minimumSpeed))
            ccurl_set_long(easy, CCURL_LOW_SPEED_TIME, max(1, Int(clamping: idle.components.seconds)))
        }
    }

    private func setRequest(_ easy: OpaquePointer) {
        ccurl_set_string(easy, CCURL_URL, url.text)
        let sendsBody =
            request.file != nil || !request.body.isEmpty
            || !["GET", "HEAD", "DELETE", "OPTIONS"].contains(request.method)
        if let source = request.file {
            setFile(easy, source)
        } else if sendsBody {
            ccurl_set_offset(easy, CCURL_POSTFIELDSIZE, Int64(request.body.count))
            ccurl_set_pointer(easy, CCURL_POSTFIELDS, body.baseAddress)
        } else if request.method == "HEAD" {
            ccurl_set_long(easy, CCURL_NOBODY, 1)
        }
        if request.method != "GET" || sendsBody { ccurl_set_string(easy, CCURL_CUSTOMREQUEST, request.method) }
        // If a reused connection turns out to be dead, libcurl resends the request by itself, although the service
        // may already have processed it. On a new connection it never does.
        if !request.isSafe { ccurl_set_long(easy, CCURL_FRESH_CONNECT, 1) }
        add("Expect:")
        if options.isRelay, request.headerFields[.accept] == nil { add("Accept:") }
        if sendsBody, request.headerFields[.contentType] == nil { add("Content-Type:") }
        let cookies = request.headerFields.filter { $0.name == .cookie }.map(\.value)
        // In one header, in addition to the cookies that libcurl has stored.
        if !cookies.isEmpty { ccurl_set_string(easy, CCURL_COOKIE, cookies.joined(separator: "; ")) }
        for field in request.headerFields where field.name != .contentLength && field.name != .cookie {
            // libcurl interprets “Name:” as a header to omit, “Name;” as one without a value.
            add(field.value.isEmpty ? "\(field.name.rawName);" : "\(field.name.rawName): \(field.value)")
        }
        ccurl_set_pointer(easy, CCURL_HTTPHEADER, headerList.map { UnsafeRawPointer($0) })
    }

    /// Reads the body from a file; libcurl requests bytes when it can send them.
    private func setFile(_ easy: OpaquePointer, _ source: any RequestContent) {
        ccurl_set_long(easy, CCURL_UPLOAD, 1)
        ccurl_set_offset(easy, CCURL_INFILESIZE, Int64(source.count))
        ccurl_set_pointer(easy, CCURL_READDATA, Unmanaged.passUnretained(self).toOpaque())
        ccurl_set_callback(easy, CCURL_READFUNCTION) { bytes, size, count, context in
            CurlTransfer.from(context).send(into: UnsafeMutableRawBufferPointer(start: bytes, count: size * count))
        }
    }

    private func send(into buffer: UnsafeMutableRawBufferPointer) -> Int {
        if let count = file?.read(into: buffer) {
            return count == requestContentPause ? 0x1000_0001 : count  // CURL_READFUNC_PAUSE
        }
        failure = request.file?.unreadable
        return 0x1000_0000  // CURL_READFUNC_ABORT
    }

    private func add(_ header: String) { headerList = ccurl_slist_add(headerList, header) ?? headerList }

    private func follow(_ location: String) -> Bool {
        redirects += 1
        guard let easy, let target = RequestURL(location), redirects <= options.limits.maximumRedirects else {
            let sentence = "the service redirected the request more than \(options.limits.maximumRedirects) times"
            close(.failure(error(.redirectRefused, sentence, sent: true)))
            return false
        }
        url = target
        self.location.withLock { $0 = target.text }
        parser = ResponseHeadParser()
        held = nil
        meter = nil
        headWait = HeadTimeout(options.limits.headTimeout)
        file?.rewind()
        ccurl_set_string(easy, CCURL_URL, target.text)
        return true
    }

    private func receive(headerLine line: UnsafeRawBufferPointer) -> Int {
        do throws(ResponseHeadParser.Failure) {
            guard try parser.receive(line), let head = parser.head else { return line.count }
            let isRedirect =
                !options.isRelay && (301...308).contains(head.status.code) && head.headerFields[.location] != nil
            meter = ResponseMeter(options.limits, use, status: head.status.code, isRedirect: isRedirect)
            if isRedirect {
                held = []
            } else {
                buffer.receive(head: head)
            }
            return line.count
        } catch {
            failure = self.error(.tooLarge, ResponseHeadParser.tooLarge, sent: true)
            return 0
        }
    }

    private func receive(body bytes: UnsafeRawBufferPointer) -> Int {
        guard let easy, var counted = meter else { return 0 }
        let verdict = counted.count(bytes.count, received: ccurl_get_offset(easy, CCURL_SIZE_DOWNLOAD))
        let kept = UnsafeRawBufferPointer(rebasing: bytes[..<verdict.kept])
        if held != nil {
            held?.append(contentsOf: kept)
        } else if !buffer.receive(kept) {
            // libcurl delivers the same bytes again.
            return 0x1000_0001  // CCURL_PAUSE
        }
        meter = counted
        switch verdict.end {
        case .none: return bytes.count
        case .cut: isCut = true
        case .refused(let sentence): failure = error(.tooLarge, sentence, sent: true)
        }
        return 0
    }

    private func mayHaveBeenSent(_ code: TransportError.Code) -> Bool {
        if redirects > 0 { return true }
        switch code {
        case .invalidRequest, .resolve, .unreachable, .tls, .libraryMissing: return false
        default: return easy.map { ccurl_get_long($0, CCURL_REQUEST_SIZE) > 0 } ?? false
        }
    }

    func error(
        _ code: TransportError.Code, _ sentence: String, sent: Bool, _ result: Int32 = 0
    ) -> TransportError {
        var message = "\(request.method) \(url.redacted): \(sentence)"
        if result != 0 {
            let detail = String(cString: errorText)
            message += " (\(detail.isEmpty ? String(cString: ccurl_error_text(result)) : detail))"
        }
        return TransportError(code, message + ".", mayHaveBeenSent: sent)
    }
}

extension Duration {
    /// At least 1, because libcurl interprets 0 as no limit.
    var wholeMilliseconds: Int {
        let (seconds, attoseconds) = components
        let milliseconds = seconds.multipliedReportingOverflow(by: 1000)
        guard !milliseconds.overflow else { return Int(Int32.max) }
        return max(1, Int(min(milliseconds.partialValue + attoseconds / 1_000_000_000_000_000, Int64(Int32.max))))
    }
}
