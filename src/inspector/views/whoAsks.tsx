import type { FollowedAgent } from '../model/followedAgent.ts'

/** Names the agent that asks, with a link to it, unless it is the one that is shown. */
export function WhoAsks({ view, agentId }: { readonly view: FollowedAgent; readonly agentId: string }) {
  if (agentId === view.agentId) return null
  return (
    <>
      {' '}
      for <a href={`#agent=${encodeURIComponent(agentId)}`}>{agentId}</a>
    </>
  )
}
