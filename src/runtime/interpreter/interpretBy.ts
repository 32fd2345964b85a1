import type { Logger } from '../../protocol/logger.ts'
import { differenceFromXState } from './differenceFromXState.ts'
import { type Interpreter, plannedInterpreter, xstateInterpreter } from './interpreter.ts'

/** The interpreter to use: XState's own if the planned one disagrees with the installed XState. */
export function interpretBy(interpreter: 'planned' | 'xstate', logger: Logger | undefined): Interpreter {
  if (interpreter === 'xstate') return xstateInterpreter
  const difference = differenceFromXState()
  if (difference === undefined) return plannedInterpreter
  logger?.warn({ difference }, 'This version of XState does not do what the planned interpreter does: its own is used.')
  return xstateInterpreter
}
