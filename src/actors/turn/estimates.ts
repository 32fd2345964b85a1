import type { Usage } from '../../protocol/messages.ts'
import type { AgentPorts, PartialReply } from '../agentPorts.ts'
import { costOf, priceOf } from './pricing.ts'

/** Returns the estimated usage and cost of a reply that was cut off: no provider reports them. */
export function partialUsage(
  { definition, frame, conversation }: Pick<AgentPorts, 'definition' | 'frame' | 'conversation'>,
  { estimatedTokens, thinking, text, model }: PartialReply,
): { readonly usage: Usage; readonly costUsd: number } {
  const usage: Usage = {
    input: Math.round(estimatedTokens * conversation.correction),
    output: definition.counter.text(thinking + text),
    cacheRead: 0,
    cacheWrite: 0,
    estimated: true,
  }
  return { usage, costUsd: costOf(usage, priceOf(frame, model)) }
}

/** Returns the tokens of a request whose trunk is estimated at `trunkTokens`, corrected by the provider's last count. */
export const requestTokens = ({ frame, conversation }: AgentPorts, trunkTokens: number): number =>
  Math.max(0, Math.round((frame.frameTokens + trunkTokens) * conversation.correction))
