internal import OperationLog
internal import SyncEngine

/// What is to be said of `store.json`.
struct DescriptionCheck {
    /// Nil where all is well.
    let sentence: String?
    let isDamaged: Bool

    init(_ files: StoreFiles, keys: [LogKey] = []) {
        do throws(TidelogError) {
            let isThere = try StoreDescription.read(files, keys: keys) != nil
            sentence =
                isThere
                ? nil
                : "\(oneLine(files.description)) is missing. The log is not touched by this: 'tidelog init' with the service root "
                    + "writes it anew."
            isDamaged = false
        } catch {
            sentence = oneLine("\(error.message) (\(files.description))")
            isDamaged = true
        }
    }
}
