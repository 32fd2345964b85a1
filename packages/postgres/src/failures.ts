import { messageOf, RuntimeError } from '../../../src/protocol/errors.ts'

/** A problem of a database that does not pass, in words for the person who set it up. */
export class Refusal extends Error {}

/** The class of an error of a server, and the rest of its code; `undefined` for one of the network, or of this side. */
export function sqlState(thrown: unknown): string | undefined {
  if (!(thrown instanceof Error) || !('severity' in thrown)) return undefined
  const code: unknown = Reflect.get(thrown, 'code')
  return typeof code === 'string' ? code : undefined
}

/**
 * SQLSTATE codes of failures that pass: connections (08), resources such as a full disk (53), a server that ends, starts, or cancels (57),
 * conflicts with others (40), a lock that was not had (55P03), and a server that may only be read, as one that has just been replaced.
 */
const passing = /^(?:08|40|53|57P|57014|55P03|25006)/

const ownErrors = [Refusal, RuntimeError, TypeError, RangeError]

/** Returns true if the same may work later. An error that is neither of the server nor of this side is of the network. */
export function isPassing(thrown: unknown): boolean {
  const state = sqlState(thrown)
  return state === undefined ? !ownErrors.some((own) => thrown instanceof own) : passing.test(state)
}

/** Returns true if there is no database to work with for the moment: none is reached, or it ends, starts, is full, or may only be read. */
export const isOutage = (thrown: unknown): boolean =>
  isPassing(thrown) && /^(?:08|53|57P|25006)/.test(sqlState(thrown) ?? '08')

/** Returns true if a table or schema that a statement names is not there. */
export const isMissingTable = (thrown: unknown): boolean => ['42P01', '3F000'].includes(sqlState(thrown) ?? '')

/** Returns true if an error is the fault of the values that a statement was given: other values may be taken. */
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
