import { hasCode } from '../../../../src/protocol/errors.ts'

/**
 * Resolves to true once the store has accepted the records that `pending` waits for, or has failed. Resolves to
 * `false` if another process has the log, so the unwritten records are lost.
 */
export async function writtenHere(pending: Promise<unknown> | undefined): Promise<boolean> {
  try {
    await pending
    return true
  } catch (thrown) {
    return !hasCode(thrown, 'STORE_LEASE_LOST')
  }
}
