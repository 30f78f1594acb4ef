internal import OfflineStore
internal import OperationLog

/// The result of a check of `store.json`.
struct DescriptionCheck {
    /// The finding, or nil if there is none.
    let sentence: String?
    let isDamaged: Bool

    init(_ files: StoreFiles, keys: [LogKey] = []) {
        do throws(TidelogError) {
            let isThere = try StoreDescription.read(files, keys: keys) != nil
            sentence =
                isThere
                ? nil
                : "\(oneLine(files.description)) is missing. The log is not affected: run 'tidelog init' with the service root "
                    + "to write it again."
            isDamaged = false
        } catch {
            sentence = oneLine("\(error.message) (\(files.description))")
            isDamaged = true
        }
    }
}
