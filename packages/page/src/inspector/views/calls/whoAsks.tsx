/** Names the agent that asks, with a link to it, unless it is the one that is shown. */
export function WhoAsks({ via, agentId }: { readonly via: string; readonly agentId: string }) {
  if (agentId === via) return null
  return (
    <>
      {' '}
      for <a href={`#agent=${encodeURIComponent(agentId)}`}>{agentId}</a>
    </>
  )
}
