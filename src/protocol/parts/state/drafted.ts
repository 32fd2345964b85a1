import { RuntimeError } from '../../errors.ts'

/**
 * Returns the state after an update: the modified draft (a copy), or the value that the function returns.
 * @throws RuntimeError `STATE_INVALID` for a function that returns a promise; whatever it throws
 */
export function drafted(now: unknown, update: (draft: never) => unknown): unknown {
  const draft = structuredClone(now)
  const made = update(draft as never)
  if (made === undefined) return draft
  if (typeof made === 'object' && made !== null && 'then' in made && typeof made.then === 'function')
    throw new RuntimeError('STATE_INVALID', 'An update of the state returned a promise: it must be made at once.')
  return made
}
