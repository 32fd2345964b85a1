import type { SettleInput, SettleOutput } from '../machines/effectTypes.ts'
import type { Block } from '../protocol/messages.ts'
import type { FindPorts } from './agentPorts.ts'
import { effect } from './effect.ts'
import { partialUsage } from './partialUsage.ts'

/** After an abort: the part of the reply that had arrived, with estimated usage, because no provider reports usage for an aborted stream. */
export const settle = (find: FindPorts) =>
  effect<SettleOutput, SettleInput>(async (input) => {
    const ports = find(input.agentId)
    const { partial, clock, children, redactor } = ports
    const spent = children === undefined ? {} : await children.settled()
    const at = clock.now()
    const { key } = input
    if (partial === null || partial.key !== input.replyKey) return { key, at, partial: null, spent }
    const content: Block[] = []
    const clean = (text: string): string => redactor?.cutOff(text) ?? text
    if (partial.thinking !== '') content.push({ type: 'thinking', text: clean(partial.thinking) })
    if (partial.text !== '') content.push({ type: 'text', text: clean(partial.text) })
    const { model } = partial
    const { usage, costUsd } = partialUsage(ports, partial)
    return { key, at, spent, partial: { content, usage, costUsd, ...(model === undefined ? {} : { model }) } }
  })
