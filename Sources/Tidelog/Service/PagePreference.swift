import ODataWire
import OfflineStore

/// The preference `odata.maxpagesize=100`, or `maxpagesize` in 4.01 (OData 4.01 Part 1, section 8.2.8.6). Other
/// preferences are ignored.
struct PagePreference {
    let size: Int64

    /// Reads the preference. Returns `nil` if it is absent, and throws `invalidRequest` if it is not a number greater
    /// than 0.
    init?(_ headers: HTTPHeaders) throws(TidelogError) {
        for field in headers.values("Prefer") {
            for preference in field.split(whereSeparator: { $0 == "," || $0 == ";" }) {
                let parts = preference.split(separator: "=", maxSplits: 1).map { part in
                    part.filter { $0 != " " && $0 != "\"" }
                }
                guard let name = parts.first?.lowercased(), name == "maxpagesize" || name == "odata.maxpagesize" else {
                    continue
                }
                guard parts.count == 2, let size = Int64(parts[1]), size > 0 else {
                    throw TidelogError(.invalidRequest, "The page size must be greater than 0, not \(preference).")
                }
                self.size = size
                return
            }
        }
        return nil
    }
}
