import { messageOf, RuntimeError } from '../../../src/protocol/errors.ts'

/** A permanent problem of a database, described for the person who set it up. */
export class Refusal extends Error {}

/** Returns the SQLSTATE code of a server error; `undefined` for an error of the network or the client. */
export function sqlState(thrown: unknown): string | undefined {
  if (!(thrown instanceof Error) || !('severity' in thrown)) return undefined
  const code: unknown = Reflect.get(thrown, 'code')
  return typeof code === 'string' ? code : undefined
}

/**
 * SQLSTATE codes of transient failures: connections (08), resources such as a full disk (53), a server that shuts down, starts or cancels (57),
 * transaction conflicts (40), an unavailable lock (55P03), and a read-only server (25006), such as one that has just been replaced.
 */
const passing = /^(?:08|40|53|57P|57014|55P03|25006)/

const ownErrors = [Refusal, RuntimeError, TypeError, RangeError]

/** Returns true if a retry may succeed. An error from neither the server nor the client is a network error. */
export function isPassing(thrown: unknown): boolean {
  const state = sqlState(thrown)
  return state === undefined ? !ownErrors.some((own) => thrown instanceof own) : passing.test(state)
}

/** Returns true if the database is unavailable for now: unreachable, shutting down, starting, full, or read-only. */
export const isOutage = (thrown: unknown): boolean =>
  isPassing(thrown) && /^(?:08|53|57P|25006)/.test(sqlState(thrown) ?? '08')

/** Returns true if a table or schema named by a statement is missing. */
export const isMissingTable = (thrown: unknown): boolean => ['42P01', '3F000'].includes(sqlState(thrown) ?? '')

/** Returns true if an error is caused by a statement's values, so that other values may succeed. */
export const isOfValues = (thrown: unknown): boolean =>
  thrown instanceof RangeError || /^(?:22|54|XX)/.test(sqlState(thrown) ?? '')

/** Describes a failure in words. */
export function failureWords(thrown: unknown): string {
  const state = sqlState(thrown)
  // Where a name has several addresses, each has failed by itself, and the whole says nothing.
  const errors: readonly unknown[] =
    thrown instanceof AggregateError && thrown.message === '' ? thrown.errors : [thrown]
  const words = errors.map(messageOf).join('; ')
  return state === undefined ? words : `${words} (SQLSTATE ${state})`
}
