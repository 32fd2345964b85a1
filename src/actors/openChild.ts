import type { CallOutput } from '../machines/effectTypes.ts'
import type { OpenInput, OpenOutput, WatchOutput } from '../machines/supervisorTypes.ts'
import type { AgentPorts, FindPorts } from './agentPorts.ts'
import { afterTool } from './afterTool.ts'
import type { Cancellation } from './cancellation.ts'
import { effect } from './effect.ts'

/** The effect of `opening`: makes a sub-agent ready to run, from its log when it has one. */
export const openChild = (find: FindPorts) =>
  effect<OpenOutput, OpenInput>(async (input, cancellation) => {
    const ports = find(input.agentId)
    const opened = await ports.children!.open(input, cancellation)
    return opened.ok ? opened : { ok: false, output: await reviewed(ports, input, opened.output, cancellation) }
  })

/** The effect beside a running sub-agent: tells what came of it. */
export const watchChild = (find: FindPorts) =>
  effect<WatchOutput, OpenInput>(async (input, cancellation) => {
    const ports = find(input.agentId)
    const watched = await ports.children!.watch(input, cancellation)
    if (watched.type === 'crashed') return watched
    return { ...watched, output: await reviewed(ports, input, watched.output, cancellation) }
  })

/** The answer of a sub-agent as `afterTool` leaves it; of one that crashed there is none. */
async function reviewed(
  ports: AgentPorts,
  { callId, ...input }: OpenInput,
  output: CallOutput,
  cancellation: Cancellation,
): Promise<CallOutput> {
  if (callId === null || output.error !== undefined) return output
  const after = await afterTool(ports, { ...input, callId }, output, cancellation)
  if (after.hook === undefined) return after
  const { counter, correction } = ports.conversation
  const { content, isError } = after
  const message = { role: 'toolResult', callId, toolName: input.name, content, isError } as const
  return { ...after, tokens: Math.round(counter.message(message) * correction) }
}
