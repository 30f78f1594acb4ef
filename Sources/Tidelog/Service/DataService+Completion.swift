public import OfflineStore

extension DataService {
    /// Starts calls in a task and passes the result to a completion handler, for code that cannot be `async`.
    ///
    /// The handler runs in the task, not on the main thread. Entities in the result belong to it.
    ///
    /// - Returns: The task. Cancelling it cancels the calls, and the handler receives their error.
    @discardableResult
    public func start<Answer>(
        _ calls: sending @escaping @isolated(any) (DataService) async throws(TidelogError) -> sending Answer,
        completionHandler: sending @escaping (Result<Answer, TidelogError>) -> Void
    ) -> Task<Void, Never> {
        Task {
            do throws(TidelogError) {
                completionHandler(.success(try await calls(self)))
            } catch {
                completionHandler(.failure(error))
            }
        }
    }
}
