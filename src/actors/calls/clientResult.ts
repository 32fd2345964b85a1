import type { CallReturn } from '../../machines/effectTypes.ts'
import type { AgentPorts } from '../agentPorts.ts'
import { isLarge } from '../parts/results.ts'
import { failure, toOutcome, withinSize } from './outcome.ts'
import { clean } from './resultContent.ts'
import { estimate, maxReturnedChars } from './runTool.ts'
import type { AnyTool } from '../tools/defineTool.ts'

/** Outcome of a call that a client carried out: the return value of its function, or the reason why it failed. */
export type ClientOutcome = { readonly value: unknown; readonly data?: unknown } | { readonly error: string }

/**
 * Returns the result of a call that a client carried out, in the form for the model: cut and without secrets, like the
 * return value of a tool's `run`.
 */
export function clientResult(
  ports: AgentPorts,
  call: { readonly callId: string; readonly name: string },
  tool: AnyTool | undefined,
  given: ClientOutcome,
): CallReturn {
  const maxChars = tool?.maxOutputChars ?? maxReturnedChars
  const outcome = 'error' in given ? failure(given.error) : toOutcome(given.value, maxChars, ports)
  const { content, isError } = withinSize(outcome)
  const result = { content, isError, tokens: estimate(ports, call, content) }
  if ('value' in given && (given.data !== undefined || tool?.conclude !== undefined))
    return { ...result, isReviewed: true, given: clean(ports, given) }
  if ('value' in given && isLarge(given.value, maxChars, ports))
    return { ...result, isReviewed: true, large: { value: clean(ports, given.value) } }
  return ports.definition.hooks?.afterTool === undefined ? result : { ...result, isReviewed: true }
}
