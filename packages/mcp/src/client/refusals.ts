import { hasCode, messageOf } from '../../../../src/protocol/errors.ts'
import type { Opened } from './connectionMachine.ts'
import type { McpSettings } from './options.ts'

/** Returns the reason why a connection could not be opened, and the next step. Pure. */
export function whyRefused(
  thrown: unknown,
  { command, connectMs }: McpSettings,
  server: { readonly end: string | undefined; readonly lastWords: string } | undefined,
  at: number,
  clean: (text: string) => string,
): Extract<Opened, { type: 'refused' }> {
  const refused = (why: string, next: 'retry' | 'wait' | 'signIn' = 'retry') =>
    ({ type: 'refused', at, why: clean(why), next }) as const
  if (hasCode(thrown, 'ERR_MODULE_NOT_FOUND'))
    return refused('it needs a package that is not installed: npm install @modelcontextprotocol/client', 'wait')
  if (hasCode(thrown, 'ENOENT')) return refused(`there is no program "${command}", or no such working folder`, 'wait')
  if (hasCode(thrown, 'EACCES')) return refused(`"${command}" may not be run`, 'wait')
  if ((thrown as { readonly name?: unknown } | null)?.name === 'UnauthorizedError')
    return refused('it wants a person to sign in', 'signIn')
  if (hasCode(thrown, 'REQUEST_TIMEOUT'))
    return refused(`it did not answer within ${connectMs} ms${server?.lastWords ?? ''}`)
  const end = server?.end
  if (end !== undefined && (hasCode(thrown, 'CONNECTION_CLOSED') || hasCode(thrown, 'EPIPE')))
    return refused(`it did not start: ${end}`)
  return refused(`it did not start: ${reasonsOf(thrown, clean)}`)
}

/**
 * Collects the reasons of an error of `fetch`, which stand in its innermost cause. Text is cleaned
 * before it is cut, because half a secret would not be recognized.
 */
export function reasonsOf(thrown: unknown, clean: (text: string) => string): string {
  let cause = thrown
  for (let depth = 0; depth < 5 && cause instanceof Error && cause.cause instanceof Error; depth += 1)
    cause = cause.cause
  const inner = cause === thrown ? '' : `: ${messageOf(cause)}`
  return clean(`${messageOf(thrown)}${inner}`).slice(0, 500)
}
