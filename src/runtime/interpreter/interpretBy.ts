import type { AnyStateMachine } from 'xstate'
import type { Logger } from '../../protocol/logger.ts'
import { differenceFromXState } from './differenceFromXState.ts'
import { plannedMachine } from './plannedMachine.ts'

type Interpret = <Machine extends AnyStateMachine>(machine: Machine) => Machine

const asItIs: Interpret = (machine) => machine

/** What a provided machine goes through before actors are made of it. Plans that do not do as XState does are not used. */
export function interpretBy(interpreter: 'planned' | 'xstate', logger: Logger | undefined): Interpret {
  if (interpreter === 'xstate') return asItIs
  const difference = differenceFromXState()
  if (difference === undefined) return plannedMachine
  logger?.warn({ difference }, 'This version of XState does not do what the planned interpreter does: its own is used.')
  return asItIs
}
