import type { CallOutput } from '../../machines/effectTypes.ts'
import type { OpenInput, OpenOutput, WatchOutput } from '../../machines/supervisorTypes.ts'
import { textOf } from '../../protocol/messages.ts'
import type { AgentPorts, FindPorts } from '../agentPorts.ts'
import { afterTool } from './afterTool.ts'
import { isLarge, keepAll, keptOutcome } from '../parts/results.ts'
import type { Cancellation } from '../timing/cancellation.ts'
import { effect } from '../effect.ts'
import type { Outcome } from './outcome.ts'
import { concluded } from './resultData.ts'

/** The effect of `opening`: makes a sub-agent ready to run, from its log if it has one. */
export const openChild = (find: FindPorts) =>
  effect<OpenOutput, OpenInput>(async (input, cancellation) => {
    const ports = find(input.agentId)
    const opened = await ports.children!.open(input, cancellation)
    return opened.ok ? opened : { ok: false, output: await reviewed(ports, input, opened.output, cancellation) }
  })

/** The effect beside a running sub-agent: returns its outcome. */
export const watchChild = (find: FindPorts) =>
  effect<WatchOutput, OpenInput>(async (input, cancellation) => {
    const ports = find(input.agentId)
    const watched = await ports.children!.watch(input, cancellation)
    if (watched.type === 'crashed') return watched
    return { ...watched, output: await reviewed(ports, input, watched.output, cancellation) }
  })

/** Maximum length of an answer in UTF-16 units, the same as for a tool. */
export const maxAnswerChars = 30_000

/**
 * Returns a sub-agent's answer after `afterTool` has reviewed it, with a copy to be kept if it is too long. A crashed sub-agent has no answer.
 */
async function reviewed(
  ports: AgentPorts,
  { callId, isInner, ...input }: OpenInput,
  { whole, ...output }: CallOutput,
  cancellation: Cancellation,
): Promise<CallOutput> {
  // A call that made it reviews the answer itself.
  if (callId === null || isInner === true || output.error !== undefined) return output
  const call = { ...input, callId }
  const answered = await afterTool(ports, call, await withWhole(ports, output, whole), cancellation)
  const kept = answered.keeping === undefined || cancellation.aborted ? answered : await keepAll(answered, ports)
  const after = await concluded(kept, input.name, ports)
  if (after.content === output.content) return after
  const { counter, correction } = ports.conversation
  const { content, isError } = after
  const message = { role: 'toolResult', callId, toolName: input.name, content, isError } as const
  return { ...after, tokens: Math.round(counter.message(message) * correction) }
}

/** Returns the answer with the parts of it that are to be kept; unchanged if it can be shown. */
async function withWhole(
  ports: AgentPorts,
  output: CallOutput,
  whole = textOf(output.content),
): Promise<CallOutput & Pick<Outcome, 'keeping'>> {
  if (!isLarge(whole, maxAnswerChars, ports)) return output
  const { content, keeping } = await keptOutcome(whole, maxAnswerChars, ports)
  return keeping === undefined ? output : { ...output, content, keeping }
}
