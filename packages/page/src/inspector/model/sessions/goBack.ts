import type { RemoteAgent } from '../../../../../bridge/src/client/index.ts'
import { say } from '../agent/say.ts'
import type { OverviewRow } from './overview.ts'

/** The step before the loop that an agent was paused for; `undefined` if it was not. Pure. */
export function loopTarget({ standing, of: { last } }: Pick<OverviewRow, 'standing' | 'of'>): string | undefined {
  return standing === 'paused' && last?.reason?.type === 'stall' ? `n${last.reason.target}` : undefined
}

/** Takes an agent back to before its loop, and lets it go on. Rejects with the server's refusal. */
export async function goBack(agent: RemoteAgent, target: string): Promise<void> {
  await agent.revert(target, { category: 'failure', summary: 'This went in circles. Try another way.' })
  await say(agent, 'resume', '')
}
