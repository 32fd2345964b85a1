import { maxContentChars, jsonChars } from '../../protocol/text/saidContent.ts'
import type { CallOutput } from '../../machines/effectTypes.ts'
import { messageOf } from '../../protocol/errors.ts'
import type { AgentPorts } from '../agentPorts.ts'
import { readState } from '../parts/state/stateOptions.ts'
import type { Keeping } from '../parts/settings.ts'
import { checkHandoff, handedTo } from '../define/handoffs.ts'
import { clean, contentOf, textBlock } from './resultContent.ts'
import { BrakeCallResult } from '../brakes/brakeCall.ts'
import { TransferCall } from '../tools/transferTool.ts'
import { WaitedFor } from '../tools/waitForTool.ts'

/** Outcome of a call. With `notStarted`, the call is to run again, because the store did not take the answer that it waited for. */
export interface Outcome extends Omit<CallOutput, 'key' | 'tokens' | 'at' | 'ofRuntime' | 'whole'> {
  /** Parts to be kept apart from the log once the result stands. */
  readonly keeping?: readonly Keeping[]
}

/** Returns the outcome, or an error if no log could hold it, because images and paths are not cut. */
export function withinSize(outcome: Outcome): Outcome {
  const chars = jsonChars([outcome.content, outcome.changed ?? []])
  if (chars <= maxContentChars) return outcome
  const tooLarge = failure(
    `The tool finished, but its result takes ${chars} characters, more than ${maxContentChars}: have it return less, or a path.`,
  )
  return outcome.receipt === undefined ? tooLarge : { ...tooLarge, receipt: outcome.receipt }
}

export const failure = (text: string): Outcome => ({ content: [{ type: 'text', text }], isError: true })

/** Returns the outcome of handing the conversation over. Throws if it cannot be handed over. */
function transfer(ports: AgentPorts, { to }: TransferCall): Outcome {
  const { ownDefinition, definition, deps: given } = ports
  checkHandoff(ownDefinition, definition, to)
  checkHandedState(ports, to)
  const { policy, snapshot: model, deps } = handedTo(ownDefinition, to)
  if (deps?.safeParse(given).success === false)
    throw new Error(`Not handed over: "${to}" needs deps, and those of this run do not fit them.`)
  return {
    isError: false,
    content: [textBlock(`You are "${to}" now: the conversation was handed over to you. Answer the user.`)],
    handoff: { to, policy, model },
  }
}

/** Checks that an agent that takes over can read the state of the conversation, which stays. Throws if it does not fit its schema. */
function checkHandedState({ ownDefinition, definition, state }: AgentPorts, to: string): void {
  const schema = definition.handoffs.get(to)?.state?.schema
  if (schema === undefined || schema === ownDefinition.state?.schema) return
  if (state === undefined) throw new Error(`Not handed over: "${to}" has state, and this conversation has none.`)
  const { wrong } = readState(schema, state.value)
  if (wrong !== undefined)
    throw new Error(`Not handed over: the state of this conversation does not fit "${to}": ${wrong}.`)
}

/** Converts the return value of a tool or a client into the outcome that the model gets; text beyond `maxChars` is cut. */
export function toOutcome(value: unknown, maxChars: number, ports: AgentPorts): Outcome {
  if (value instanceof TransferCall) return transfer(ports, value)
  const isBrake = value instanceof BrakeCallResult
  try {
    if (value instanceof WaitedFor)
      return { isError: false, content: contentOf(value.text, maxChars, ports), delivers: value.delivers }
    const content = contentOf(isBrake ? value.text : value, maxChars, ports)
    return isBrake ? { isError: false, content, brake: clean(ports, value.call) } : { isError: false, content }
  } catch (thrown) {
    return failure(`The tool finished, but its result is not JSON: ${messageOf(thrown)}`)
  }
}
