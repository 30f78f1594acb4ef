import OperationLog
import Operations
public import SyncEngine

/// A store as one page of HTML that a browser shows without a network: what is in the log, what became of it, what is in
/// conflict and what failed.
public struct Report: Sendable {
    /// How large a page may become.
    public struct Limits: Sendable, Hashable {
        /// Of the file. Long values and the bytes of batches are cut first, and the page says so.
        public var bytes = 4_900_000
        /// The newest records are shown.
        public var records = 200_000

        public init() {}
    }

    /// What was made.
    public struct Page: Sendable {
        public let html: String
        /// What the page does not show, and why, in sentences.
        public let notices: [String]
        /// Whether the log is damaged.
        public let isDamaged: Bool
    }

    private let store: InspectedStore
    private let point: PointInTime?
    private let limits: Limits
    private let isRedacted: Bool
    private let isDamaged: Bool

    /// - Parameters:
    ///   - point: the store as it was; nil for as it is.
    ///   - isRedacted: whether the page says that its values are not the real ones.
    ///   - isDamaged: whether what the store was made of is damaged; a store made of another one is not.
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

    /// Reads the log three times, and makes the state of it. In memory for a line of each record shown, a fate for each
    /// operation, and the state.
    public func page() async throws(TidelogError) -> Page {
        let reading = ReportReading(store, at: point, limits: limits, isRedacted: isRedacted, isDamaged: isDamaged)
        let content = try await reading.content()
        for (step, cut) in ReportCut.steps.enumerated() {
            let isLast = step == ReportCut.steps.count - 1
            let text = ReportEncoding(content, cut: cut).json
            // Where it is clear that this is too much, it is not packed first.
            if !isLast, ReportCut.estimate(text) > limits.bytes { continue }
            let notices = content.notices + cut.notices(for: content)
            let html = ReportPage.html(
                title: content.title, subtitle: content.subtitle, data: Deflate.compress(text))
            if isLast || html.utf8.count <= limits.bytes {
                return Page(html: html, notices: notices, isDamaged: content.isDamaged)
            }
        }
        throw TidelogError(.unsupported, "The report is too large.", recovery: "Choose an earlier state with --at.")
    }
}

/// How much of long texts is shown where the page would become too large.
struct ReportCut {
    /// Characters of a record's line.
    let text: Int
    /// Characters of a request's body.
    let body: Int

    static let steps = [
        ReportCut(text: 400, body: 16_000), ReportCut(text: 200, body: 2_000), ReportCut(text: 120, body: 400),
        ReportCut(text: 72, body: 80), ReportCut(text: 44, body: 0), ReportCut(text: 24, body: 0),
        ReportCut(text: 0, body: 0),
    ]

    /// What it hides of the content, in sentences.
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

    /// Of the page's size: every eighth piece is packed.
    static func estimate(_ bytes: [UInt8]) -> Int {
        let piece = 1 << 15
        guard bytes.count > 64 * piece else { return 0 }
        var (read, packed) = (0, 0)
        for start in stride(from: 0, to: bytes.count, by: 8 * piece) {
            let part = Array(bytes[start..<min(bytes.count, start + piece)])
            read += part.count
            packed += Deflate.compress(part).count
        }
        // Pieces by themselves pack a little worse than the whole.
        return Int(Double(packed) / Double(max(1, read)) * Double(bytes.count) * 4 / 3 * 0.8)
    }
}
