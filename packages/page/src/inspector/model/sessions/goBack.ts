import type { RemoteAgent } from '../../../../../bridge/src/client/index.ts'
import { say } from '../agent/say.ts'
import type { OverviewRow } from './overview.ts'

/** Returns the step before the loop for which an agent was paused; `undefined` if it was not. Pure. */
export function loopTarget({ standing, of: { last } }: Pick<OverviewRow, 'standing' | 'of'>): string | undefined {
  return standing === 'paused' && last?.reason?.type === 'stall' ? `n${last.reason.target}` : undefined
}

/** Reverts an agent to the step before its loop, and resumes it. Rejects with the server's refusal. */
export async function goBack(agent: RemoteAgent, target: string): Promise<void> {
  await agent.revert(target, { category: 'failure', summary: 'This went in circles. Try another way.' })
  await say(agent, 'resume', '')
}
