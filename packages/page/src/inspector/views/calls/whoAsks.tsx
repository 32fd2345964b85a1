import { useContext } from 'preact/hooks'
import { oneLine } from '../../model/words/shortText.ts'
import { AgentNames } from '../../parts/agentNames.ts'

/** Names the agent that asks, with a link to it, unless it is the one that is shown. */
export function WhoAsks({ via, agentId }: { readonly via: string; readonly agentId: string }) {
  const nameOf = useContext(AgentNames)
  if (agentId === via) return null
  return (
    <>
      {' '}
      for{' '}
      <a href={`#agent=${encodeURIComponent(agentId)}`} title={agentId}>
        <bdi>{oneLine(nameOf(agentId), 60)}</bdi>
      </a>
    </>
  )
}
