package import SyncCore

/// The readLink and the editLink of an entity. Most are never read, so a link of the plain form is only written when it
/// is.
package enum SnapshotLinks: Sendable {
    case texts(read: String?, edit: String?)
    /// Both links have the plain form, with this key.
    case plain(PlainLinkForm, Int64)

    /// The readLink, or nil if there is none. Setting it stores both links as texts.
    package var read: String? {
        get {
            switch self {
            case .texts(let read, _): read
            case .plain(let form, let key): form.link(key)
            }
        }
        set { self = .texts(read: newValue, edit: edit) }
    }

    /// The editLink, or nil if there is none. Setting it stores both links as texts.
    package var edit: String? {
        get {
            switch self {
            case .texts(_, let edit): edit
            case .plain(let form, let key): form.link(key)
            }
        }
        set { self = .texts(read: read, edit: newValue) }
    }

    /// Whether the entity has a readLink.
    package var hasRead: Bool {
        switch self {
        case .texts(let read, _): read != nil
        case .plain: true
        }
    }
}

extension SnapshotLinks: Hashable {
    package static func == (a: SnapshotLinks, b: SnapshotLinks) -> Bool { a.read == b.read && a.edit == b.edit }

    package func hash(into hasher: inout Hasher) { hasher.combine(read) }
}
