import { useEffect, useState } from 'preact/hooks'
import { factsAtRest, standingOf, standingWords } from '../../charts/standing.ts'
import type { SessionEntry } from '../../protocol/frames.ts'
import type { Inspector } from '../model/inspector.ts'
import { emptyRoute, formatRoute } from '../model/route.ts'
import { StateDot } from '../parts/stateDot.tsx'

/** So many are listed. */
const mostListed = 50

export interface ForksPanelProps {
  readonly inspector: Inspector
  readonly agentId: string
}

/** The forks of an agent, as the server had them when it was opened: each to be shown, and to be compared with it. */
export function ForksPanel({ inspector, agentId }: ForksPanelProps) {
  const { connection } = inspector.attached.value
  const [forks, setForks] = useState<readonly SessionEntry[]>([])
  const isOpen = connection.status.value === 'open'
  useEffect(() => {
    setForks([])
    if (!isOpen) return undefined
    let isOver = false
    connection.client.sessions({ forkedFrom: agentId, limit: mostListed }).then(
      ({ sessions }) => {
        if (!isOver) setForks(sessions)
      },
      // A server of an older version cannot tell.
      () => {},
    )
    return () => void (isOver = true)
  }, [connection, agentId, isOpen])
  if (forks.length === 0) return null
  return (
    <section class="details-part" aria-labelledby="forks-title">
      <h2 id="forks-title">Forks</h2>
      <ul class="children">
        {forks.map((fork) => {
          const facts = factsAtRest(fork)
          return (
            <li key={fork.agentId}>
              <StateDot state={standingOf(facts)} />
              <a class="cut grow" href={formatRoute({ ...emptyRoute, agent: fork.agentId })}>
                {fork.agentId}
              </a>
              <span class="faint small">{standingWords(facts)}</span>
              <a
                class="small"
                href={formatRoute({ ...emptyRoute, agent: fork.agentId, with: agentId })}
                aria-label={`Compare ${fork.agentId} with this agent`}
              >
                compare
              </a>
            </li>
          )
        })}
      </ul>
    </section>
  )
}
