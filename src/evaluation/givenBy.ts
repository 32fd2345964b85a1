import { messageOf, RuntimeError } from '../protocol/errors.ts'

/**
 * What a function of a suite gives. It may not be async: a promise is refused, and whatever becomes of it does no harm.
 *
 * @throws RuntimeError `INVALID_DEFINITION` for a promise and for whatever it throws that is no `RuntimeError`
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

/** Whether something is a promise, which then is let go of: nobody would hear of its rejection, and that ends a process. */
export function isPromise(value: unknown): boolean {
  if (typeof value !== 'object' || value === null || !('then' in value) || typeof value.then !== 'function')
    return false
  value.then(undefined, () => {})
  return true
}
