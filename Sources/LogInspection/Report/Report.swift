public import OfflineStore
import OperationLog
import Operations

/// A store as one HTML page that needs no network: the log, the outcomes of its operations, conflicts and errors.
public struct Report: Sendable {
    /// Limits on the size of a page.
    public struct Limits: Sendable, Hashable {
        /// The size of the file. Long values and the bytes of batches are truncated first, which the page reports.
        public var bytes = 4_900_000
        /// The number of records. The newest are shown.
        public var records = 200_000

        /// Creates the default options.
        public init() {}
    }

    /// A generated page.
    public struct Page: Sendable {
        /// The complete page as HTML.
        public let html: String
        /// The omissions of the page and their reasons, in sentences.
        public let notices: [String]
        /// A Boolean value that indicates whether the log is damaged.
        public let isDamaged: Bool
    }

    private let store: InspectedStore
    private let point: PointInTime?
    private let limits: Limits
    private let isRedacted: Bool
    private let isDamaged: Bool

    /// Creates a report.
    ///
    /// - Parameters:
    ///   - point: The historical point, or nil for the current state.
    ///   - isRedacted: Whether the page notes that its values are redacted.
    ///   - isDamaged: Whether the source of the store is damaged. A store that was built from it is not.
    public init(
        _ store: InspectedStore, at point: PointInTime? = nil, limits: Limits = Limits(), isRedacted: Bool = false,
        isDamaged: Bool = false
    ) {
        self.store = store
        self.point = point
        self.limits = limits
        self.isRedacted = isRedacted
        self.isDamaged = isDamaged
    }

    /// Generates the page. Reads the log three times and builds its state. It holds one line for each shown record, the
    /// outcome of each operation, and the state in memory.
    ///
    /// - Throws: `unsupported` if the page exceeds ``Limits/bytes`` even with truncated texts; `notFound` if a
    ///   compaction has removed the records of the point; `noStore` if there is no log.
    public func page() async throws(TidelogError) -> Page {
        let reading = ReportCollector(store, at: point, limits: limits, isRedacted: isRedacted, isDamaged: isDamaged)
        let content = try await reading.content()
        for (step, cut) in TextTruncation.steps.enumerated() {
            let isLast = step == TextTruncation.steps.count - 1
            let text = ReportEncoding(content, cut: cut).json
            // A text that is clearly too large is not compressed first.
            if !isLast, TextTruncation.estimate(text) > limits.bytes { continue }
            let notices = content.notices + cut.notices(for: content)
            let html = ReportPage.html(
                title: content.title, subtitle: content.subtitle, data: RawDeflate.compress(text))
            if isLast || html.utf8.count <= limits.bytes {
                return Page(html: html, notices: notices, isDamaged: content.isDamaged)
            }
        }
        throw TidelogError(.unsupported, "The report is too large.", recovery: "Choose an earlier state with --at.")
    }
}

/// The truncation of long texts if the page would otherwise be too large.
struct TextTruncation {
    /// The length of a record's line in characters.
    let text: Int
    /// The length of a request's body in characters.
    let body: Int

    static let steps = [
        TextTruncation(text: 400, body: 16_000), TextTruncation(text: 200, body: 2_000),
        TextTruncation(text: 120, body: 400),
        TextTruncation(text: 72, body: 80), TextTruncation(text: 44, body: 0), TextTruncation(text: 24, body: 0),
        TextTruncation(text: 0, body: 0),
    ]

    /// Returns the truncations in sentences.
    func notices(for content: ReportContent) -> [String] {
        var notices: [String] = []
        let lines = content.rows.count { $0.text.unicodeScalars.count > text }
        if lines > 0 {
            notices.append(
                "To keep the page small, \(lines) of \(content.rows.count) records are shown with the first \(text) characters of their line."
            )
        }
        let bodies = content.batches.reduce(0) { $0 + $1.requests.count { $0.body.unicodeScalars.count > body } }
        if bodies > 0 {
            notices.append(
                "To keep the page small, the bodies of \(bodies) requests are shown with their first \(body) characters."
            )
        }
        return notices
    }

    func cut(_ text: String, to limit: Int) -> String {
        guard text.utf8.count > limit, text.unicodeScalars.count > limit else { return text }
        var result = String.UnicodeScalarView()
        result.append(contentsOf: text.unicodeScalars.prefix(limit))
        return String(result) + "…"
    }

    /// Returns an estimate of the page's size, from compressing every eighth piece.
    static func estimate(_ bytes: [UInt8]) -> Int {
        let piece = 1 << 15
        guard bytes.count > 64 * piece else { return 0 }
        var (read, packed) = (0, 0)
        for start in stride(from: 0, to: bytes.count, by: 8 * piece) {
            let part = Array(bytes[start..<min(bytes.count, start + piece)])
            read += part.count
            packed += RawDeflate.compress(part).count
        }
        // Separate pieces compress slightly worse than the whole.
        return Int(Double(packed) / Double(max(1, read)) * Double(bytes.count) * 4 / 3 * 0.8)
    }
}
