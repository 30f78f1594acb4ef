import OfflineStore

/// Reads `store.json`.
///
/// Required: a description that can be parsed is equal after it is encoded and parsed again.
func fuzzStoreDescriptions(_ input: [UInt8]) throws(Finding) {
    for isAuthentic in [false, true] {
        guard let read = try? StoreDescription(input, isAuthentic: isAuthentic, path: "store.json") else { continue }
        try require(isAuthentic || read.encryptedFrom == nil, "an unauthenticated position is used: \(read)")
        let again = try? StoreDescription(read.encoded, isAuthentic: isAuthentic, path: "store.json")
        try require(again == read, "written and read again: \(read), then \(String(describing: again))")
    }
}

let storeDescriptionSeeds: [[UInt8]] = [
    #"{"formatVersion":1,"serviceRoot":"https://host/service/"}"#,
    #"{"formatVersion":1,"serviceRoot":"https://host/","service":{"contentIDReferences":"urlsOnly"},"learned":{"contentIDReferences":"none","lacksRepeatability":"true"},"clientID":"c-1","encryptedFrom":17}"#,
].map { Array($0.utf8) }
