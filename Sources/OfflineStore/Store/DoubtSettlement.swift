/// The user's decision about an operation in doubt.
public enum DoubtSettlement: String, Sendable, Hashable, CaseIterable {
    /// The operation took effect.
    case tookEffect
    /// The operation did not take effect and is sent again.
    case resend
}
