import EDM
internal import LogInspection

/// The result of a check of a store's views.
struct StoredViewsText {
    private let views: StoredViews

    init(_ views: StoredViews) { self.views = views }

    /// The result as a sentence, or nil if there is no file.
    var sentence: String? {
        switch views {
        case .missing: nil
        case .sound(let last): "The views match the log up to operation \(last)."
        case .inUse: "The views were not compared: another process has the store open."
        case .stale(let reason): "The next command rebuilds the views: \(oneLine(reason))"
        case .wrong(let reason):
            TextColor.bad(
                "The views differ from the log: \(oneLine(reason)) Run 'tidelog verify --rebuild' to rebuild them."
            )
        }
    }

    func write(to json: inout JSONWriter) {
        switch views {
        case .missing: json.member("views", "missing")
        case .sound: json.member("views", "sound")
        case .inUse: json.member("views", "inUse")
        case .stale(let reason):
            json.member("views", "stale")
            json.member("viewsReason", reason)
        case .wrong(let reason):
            json.member("views", "wrong")
            json.member("viewsReason", reason)
        }
    }
}
