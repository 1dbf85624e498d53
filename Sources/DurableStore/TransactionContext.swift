/// The values that the closures of one transaction share: read once, and stored once, before its commit.
///
/// A store creates one at the beginning of each transaction. If a closure fails and its changes are undone, the copy from
/// before takes the place of the context.
package protocol TransactionContext: AnyObject {
    /// Returns a copy, which does not follow further changes.
    func copy() -> Self

    /// Stores what the closures have changed.
    ///
    /// - Parameter database: The database, before the commit of the transaction.
    /// - Throws: An error that undoes the transaction.
    func store(in database: Database) throws
}
