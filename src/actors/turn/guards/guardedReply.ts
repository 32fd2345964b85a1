import type { ReplyFailure, ReplyInput, ReplyOutput } from '../../../machines/effectTypes.ts'
import { errorInfo } from '../../../protocol/errors.ts'
import type { GuardVerdict } from '../../../protocol/guarding.ts'
import { withheldText } from '../../../protocol/text/withheldText.ts'
import { textOf, type Block } from '../../../protocol/messages.ts'
import type { AgentPorts } from '../../agentPorts.ts'
import { askGuards } from './askGuards.ts'
import { Cancellation } from '../../timing/cancellation.ts'
import { partialUsage } from '../estimates.ts'
import { readAnswer } from '../../../protocol/checks/readOutput.ts'

type Stream = (ports: AgentPorts, input: ReplyInput, cancellation: Cancellation) => Promise<ReplyOutput>
type Replied = Extract<ReplyOutput, { ok: true }>

/** Streams a reply under guards. Input guards run beside it, and cut it off if they refuse. Output guards check the answer before it is recorded. */
export async function guardedReply(
  ports: AgentPorts,
  input: ReplyInput,
  cancellation: Cancellation,
  stream: Stream,
): Promise<ReplyOutput> {
  const reply = new Cancellation()
  const stop = (): void => reply.abort()
  if (cancellation.aborted) stop()
  else cancellation.add(stop)
  try {
    const said = guardInput(ports, input, cancellation).then((verdict) => {
      if (verdict !== undefined && verdict.decision !== 'passed') stop()
      return verdict
    })
    const [output, verdict] = await Promise.all([stream(ports, input, reply), said])
    if (verdict === undefined || cancellation.aborted) return await guardOutput(ports, input, output, cancellation)
    if (verdict.decision !== 'passed') return discarded(ports, output, verdict)
    const guarded = await guardOutput(ports, input, output, cancellation)
    return { ...guarded, guards: [verdict, ...(guarded.guards ?? [])] }
  } finally {
    cancellation.remove(stop)
  }
}

/** Asks the guards of the input; `undefined` if there is nothing to ask about. */
async function guardInput(
  ports: AgentPorts,
  input: ReplyInput,
  cancellation: Cancellation,
): Promise<GuardVerdict | undefined> {
  const { guardedTo } = input
  if (guardedTo === undefined) return undefined
  await ports.durable()
  const { path } = ports.conversation
  const said = path.filter(({ id, message }) => id > guardedTo && message.role === 'user')
  if (said.length === 0 || cancellation.aborted) return undefined
  const content = said.flatMap(({ message }) => message.content)
  const texts = said.map(({ message }) => textOf(message.content))
  const messages = path.map(({ message }) => message)
  const verdict = await askGuards(
    ports,
    input,
    { at: 'input', text: texts.join('\n'), content, messages },
    cancellation,
  )
  if (verdict.decision === 'failed') return verdict
  const to = path.at(-1)!.id
  return verdict.decision === 'passed' ? { ...verdict, to } : { ...verdict, to, withheld: said.map(({ id }) => id) }
}

/** Returns the reply, or its replacement when a guard does not let it pass. */
async function guardOutput(
  ports: AgentPorts,
  input: ReplyInput,
  output: ReplyOutput,
  cancellation: Cancellation,
): Promise<ReplyOutput> {
  const { definition, conversation } = ports
  if (definition.guards!.output.length === 0 || !output.ok || !isAnswer(output) || cancellation.aborted) return output
  const { content } = output.message
  const text = textOf(content)
  const read = definition.output === null ? undefined : readAnswer(definition.output, text)
  const messages = conversation.path.map(({ message }) => message)
  const asked = { at: 'output', text, content, messages, ...(read?.ok === true ? { output: read.value } : {}) } as const
  const verdict = await askGuards(ports, input, asked, cancellation)
  if (verdict.decision === 'failed') return discarded(ports, output, verdict)
  const at = ports.clock.now()
  if (verdict.decision === 'passed') return { ...output, guards: [verdict], at }
  const { guard = '', reason = '' } = verdict
  const shown: readonly Block[] = [{ type: 'text', text: withheldText({ at: 'output', reason }) }]
  const message = { ...output.message, content: shown, stopReason: 'refusal' } as const
  return { ...output, message, withheld: { at: 'output', guard, reason, content }, guards: [verdict], at }
}

/** Returns true if the reply calls nothing and is not already a refusal of the model. */
const isAnswer = ({ calls, message }: Replied): boolean => calls.length === 0 && message.stopReason !== 'refusal'

/** Returns the output for a reply that is discarded: its cost is counted. */
function discarded(ports: AgentPorts, output: ReplyOutput, verdict: GuardVerdict): ReplyOutput {
  const { clock, random } = ports
  return {
    key: output.key,
    ok: false,
    failure: failureOf(ports, output, verdict),
    guards: [verdict],
    at: clock.now(),
    jitter: random(),
  }
}

function failureOf(
  ports: AgentPorts,
  output: ReplyOutput,
  { decision, guard, reason, error }: GuardVerdict,
): ReplyFailure {
  const spent = output.ok ? { usage: output.message.usage, costUsd: output.costUsd } : spentOn(ports, output)
  if (decision === 'failed') return { kind: 'unguarded', error: error!, ...spent }
  const what = errorInfo('GUARD_REFUSED', `The guard ${guard} refused it: ${reason}`)
  return { kind: 'refused', error: what, ...spent }
}

/** Returns the usage and cost of a reply that failed or was cut off. */
function spentOn(
  ports: AgentPorts,
  { key, failure }: Extract<ReplyOutput, { ok: false }>,
): Pick<ReplyFailure, 'usage' | 'costUsd'> {
  const { usage, costUsd } = failure
  if (usage !== undefined) return { usage, ...(costUsd === undefined ? {} : { costUsd }) }
  return ports.partial?.key === key ? partialUsage(ports, ports.partial) : {}
}
