import { errorTable, RuntimeError, type ErrorCode, type ErrorInfo } from '../protocol/errors.ts'

const isKnown = (code: string): code is ErrorCode => Object.hasOwn(errorTable, code)

/** What a server said went wrong, as an error to throw. */
export function remoteError({ code, message }: ErrorInfo): RuntimeError {
  if (!isKnown(code)) return new RuntimeError('BRIDGE_FRAME', `The server answered ${code}: ${message}`)
  // The message ends with the advice of the table, which the constructor adds.
  const advice = ` ${errorTable[code]}`
  return new RuntimeError(code, message.endsWith(advice) ? message.slice(0, -advice.length) : message)
}

/** What is said of anything that is asked of a closed client. */
export const closedError = (): RuntimeError => new RuntimeError('BRIDGE_CLOSED', 'The client is closed.')
