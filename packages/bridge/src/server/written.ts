import { hasCode } from '../../../../src/protocol/errors.ts'

/**
 * Resolves once the store has taken what `pending` waits for, or has failed to. `false`: another process has the log, so what this one
 * had not written is not part of it and never will be.
 */
export async function writtenHere(pending: Promise<unknown> | undefined): Promise<boolean> {
  try {
    await pending
    return true
  } catch (thrown) {
    return !hasCode(thrown, 'STORE_LEASE_LOST')
  }
}
