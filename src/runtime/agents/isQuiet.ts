import type { AgentHost } from './agentHost.ts'

/** Whether nothing would be missed of an agent if it were let go now: it rests, and nobody and nothing is bound to it. */
export function isQuiet(host: AgentHost): boolean {
  const { prompts, steering, followUps, reverts, prunes, attached, calls } = host.context
  const waiting = [prompts, steering, followUps, reverts ?? [], prunes ?? [], attached, calls, host.liveChildren]
  return (
    host.state === 'idle' &&
    !host.isStopped &&
    host.unseen === 0 &&
    waiting.every(({ length }) => length === 0) &&
    !host.isAttended
  )
}
