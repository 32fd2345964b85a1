import { mapped } from '../../protocol/mapped.ts'
import type { PlannedCall } from '../../machines/effectTypes.ts'
import type { ToolCallBlock } from '../../protocol/messages.ts'
import type { AgentPorts } from '../agentPorts.ts'
import { misfits, settledInput } from './callArguments.ts'
import { needsApproval } from './needsApproval.ts'
import type { RunContext } from './runContext.ts'

/** Returns the calls of a reply as they are to be made. `isWhole`: the reply came to its end. */
export function planCalls(
  ports: AgentPorts,
  calls: readonly ToolCallBlock[],
  isWhole: boolean,
  context: () => RunContext<never>,
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
  const answers = mapped(settled, (call) => !isLater && needsApproval(ports, call, context))
  const plan = (needed: readonly boolean[]): PlannedCall[] =>
    mapped(settled, (call, index) => ({ ...call, needsApproval: needed[index]! }))
  const areThere = answers.every((answer) => typeof answer === 'boolean')
  return areThere ? plan(answers) : Promise.all(answers.map((answer) => Promise.resolve(answer))).then(plan)
}
