import { messageOf, RuntimeError } from '../../../src/protocol/errors.ts'

/**
 * Returns the result of a function of a suite. It must not be async: a promise is refused, and its later rejection is harmless.
 *
 * @throws RuntimeError `INVALID_DEFINITION` for a promise and for every error of the function that is not a `RuntimeError`
 */
export function givenBy<T>(what: string, give: () => T): T {
  let given: T
  try {
    given = give()
  } catch (thrown) {
    if (thrown instanceof RuntimeError) throw thrown
    throw new RuntimeError('INVALID_DEFINITION', `${what} could not be made: ${messageOf(thrown)}.`, { cause: thrown })
  }
  if (!isPromise(given)) return given
  throw new RuntimeError(
    'INVALID_DEFINITION',
    `${what} must not be a promise: make its function one that is not async.`,
  )
}

/** Returns true for a promise, and ignores its outcome: an unhandled rejection would end the process. */
export function isPromise(value: unknown): boolean {
  if (typeof value !== 'object' || value === null || !('then' in value) || typeof value.then !== 'function')
    return false
  value.then(undefined, () => {})
  return true
}
