import { mapped } from '../../protocol/mapped.ts'
import type { PlannedCall, ReplyInput } from '../../machines/effectTypes.ts'
import type { ToolCallBlock } from '../../protocol/messages.ts'
import type { AgentPorts } from '../agentPorts.ts'
import type { Cancellation } from '../timing/cancellation.ts'
import { misfits, settledInput } from './callArguments.ts'
import { askingAbout, notAsked, type Asking } from './needsApproval.ts'

/** Returns the planned calls of a reply. `isWhole`: true if the reply came to its end. */
export function planCalls(
  ports: AgentPorts,
  calls: readonly ToolCallBlock[],
  isWhole: boolean,
  at: Pick<ReplyInput, 'runId' | 'turnIndex'>,
  cancellation: Cancellation,
): readonly PlannedCall[] | Promise<readonly PlannedCall[]> {
  // Nobody is asked to approve before rules and `beforeTool` have decided, and of a reply that is not whole nothing is run.
  const { beforeTool } = ports.definition.policy.flags
  const isLater = beforeTool === true || ports.permissions !== undefined || !isWhole
  const settled = mapped(calls, (call) => {
    const { callId, name } = call
    const input = isWhole ? settledInput(ports.definition, call) : call.input
    const settling = input === call.input ? {} : { isSettled: true as const }
    return { callId, name, input, ...settling, ...(misfits(ports, { name, input }) ? { misfits: true as const } : {}) }
  })
  const answers = mapped(settled, (call) => (isLater ? notAsked : askingAbout(ports, call, at, cancellation)))
  const plan = (asking: readonly Asking[]): PlannedCall[] =>
    mapped(settled, (call, index) => ({ ...call, ...asking[index]! }))
  return answers.some((answer) => answer instanceof Promise)
    ? Promise.all(answers.map(async (answer) => answer)).then(plan)
    : plan(answers as Asking[])
}
