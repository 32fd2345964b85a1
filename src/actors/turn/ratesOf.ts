import { usualWindow } from '../../conversation/limits/economics.ts'
import type { ReplyOutput } from '../../machines/effectTypes.ts'
import type { AgentPorts } from '../agentPorts.ts'
import { priceOf } from './pricing.ts'

type Rates = Pick<Extract<ReplyOutput, { ok: true }>, 'rates'>

const none = {}

/** Returns the window and prices of the model that answered for the record of its reply, where readers of the log could not assume them. */
export function ratesOf({ definition, frame }: AgentPorts, model: string): Rates {
  const window = definition.compaction?.policy.contextWindow ?? usualWindow
  const prices = priceOf(frame, model)
  if (window === usualWindow && prices === null) return none
  return { rates: { ...(window === usualWindow ? none : { window }), ...(prices === null ? none : { prices }) } }
}
