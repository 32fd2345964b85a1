import type { SettleInput, SettleOutput } from '../../machines/effectTypes.ts'
import { withheldText } from '../../protocol/text/withheldText.ts'
import type { Block } from '../../protocol/messages.ts'
import type { AgentPorts, FindPorts } from '../agentPorts.ts'
import { effect } from '../effect.ts'
import { printedSoFar } from '../calls/resultContent.ts'
import { partialUsage } from './estimates.ts'

/** The effect after an abort: returns the part of the reply that had arrived, with estimated usage, because no provider reports it then. */
export const settle = (find: FindPorts) =>
  effect<SettleOutput, SettleInput>(async (input) => {
    const ports = find(input.agentId)
    const { partial, clock, children, redactor, definition } = ports
    const spent = children === undefined ? {} : await children.settled()
    const at = clock.now()
    const { key } = input
    const left = { spent, printed: printedOf(ports), receipts: Object.fromEntries(ports.kept) }
    ports.kept.clear()
    if (partial === null || partial.key !== input.replyKey) return { key, at, partial: null, ...left }
    const isGuarded = definition.policy.flags.outputGuards === true
    const content = isGuarded ? unguarded(partial) : contentOf(partial, (text) => redactor?.cutOff(text) ?? text)
    const { model } = partial
    const { usage, costUsd } = partialUsage(ports, partial)
    return { key, at, ...left, partial: { content, usage, costUsd, ...(model === undefined ? {} : { model }) } }
  })

/** Returns and clears the output of calls that were aborted. */
function printedOf({ printed, redactor }: AgentPorts): NonNullable<SettleOutput['printed']> {
  const all = Object.fromEntries([...printed].map(([callId, text]) => [callId, printedSoFar(text, redactor)]))
  printed.clear()
  return all
}

type Arrived = Pick<NonNullable<AgentPorts['partial']>, 'text' | 'thinking'>

function contentOf({ text, thinking }: Arrived, clean: (text: string) => string): Block[] {
  const content: Block[] = []
  if (thinking !== '') content.push({ type: 'thinking', text: clean(thinking) })
  if (text !== '') content.push({ type: 'text', text: clean(text) })
  return content
}

/** Returns a note that replaces text about which the output guards were not asked. */
const unguarded = ({ text }: Arrived): Block[] =>
  text === ''
    ? []
    : [{ type: 'text', text: withheldText({ at: 'output', reason: 'it was aborted before it could be checked.' }) }]
