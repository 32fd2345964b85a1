import { useEffect, useState } from 'preact/hooks'
import { factsAtRest, factsOf, standingOf, standingWords } from '../../../../../charts/src/standing.ts'
import { ForkList } from '../../model/branches/forkList.ts'
import type { Inspector } from '../../model/shell/inspector.ts'
import { emptyRoute, formatRoute } from '../../model/shell/route.ts'
import { oneLine } from '../../model/words/shortText.ts'
import { StateDot } from '../../parts/stateDot.tsx'

export interface ForksPanelProps {
  readonly inspector: Inspector
  readonly agentId: string
}

/** The forks of an agent as they are made, with the state of each, and buttons to show it and to compare it with the agent. */
export function ForksPanel({ inspector, agentId }: ForksPanelProps) {
  const { connection, directory } = inspector.attached.value
  const [list, setList] = useState<ForkList>()
  const isOpen = connection.status.value === 'open'
  useEffect(() => {
    if (!isOpen) return undefined
    const { client } = connection
    const opened = new ForkList({ client, agentId, roots: directory.roots, clock: inspector.clock })
    setList(opened)
    return () => opened.close()
  }, [connection, directory, agentId, isOpen])
  const forks = list?.forks.value ?? []
  if (forks.length === 0 || list?.agentId !== agentId) return null
  return (
    <section class="details-part" aria-labelledby="forks-title">
      <h2 id="forks-title">Forks</h2>
      <ul class="children">
        {forks.map((fork) => {
          const running = directory.agents.value.get(fork.agentId)
          const facts = running === undefined ? factsAtRest(fork) : factsOf(running)
          const { title = fork.title } = running ?? {}
          return (
            <li key={fork.agentId}>
              <StateDot state={standingOf(facts)} />
              <a
                class="cut grow"
                href={formatRoute({ ...emptyRoute, agent: fork.agentId })}
                {...(title === undefined ? {} : { title: oneLine(title, 200) })}
              >
                {fork.agentId}
              </a>
              <span class="faint small cut">{standingWords(facts)}</span>
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
