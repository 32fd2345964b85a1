import { useState } from 'preact/hooks'
import { age, counted } from '../../../../../charts/src/amounts.ts'
import type { RemoteSearch } from '../../../../../bridge/src/client/index.ts'
import { nameOf } from '../../model/sessions/agentNames.ts'
import type { Inspector } from '../../model/shell/inspector.ts'
import { emptyRoute, formatRoute } from '../../model/shell/route.ts'
import { oneLine } from '../../model/words/shortText.ts'
import { Icon } from '../../parts/icon.tsx'

export interface HomeSearchProps {
  readonly inspector: Inspector
  /** Text to search for. */
  readonly text: string
}

/** Maximum number of records that are asked for. */
const mostHits = 50

/** Searches for a text in all logs, when a person asks for it: a store may have to read all of its logs. */
export function HomeSearch({ inspector, text }: HomeSearchProps) {
  const [found, setFound] = useState<RemoteSearch | null>(null)
  const [isAsking, setAsking] = useState(false)
  const ask = async (): Promise<void> => {
    setAsking(true)
    const { client } = inspector.attached.value.connection
    await inspector.attempt(async () => setFound(await client.search(text, { limit: mostHits })))
    setAsking(false)
  }
  const words = oneLine(text, 60)
  if (found === null)
    return (
      <div class="home-search">
        <button type="button" class="button quiet slim" aria-disabled={isAsking} onClick={() => isAsking || void ask()}>
          <Icon name="search" />{' '}
          <span class="cut">
            {isAsking ? 'Searching for' : 'Search all conversations for'} “{words}”
          </span>
        </button>
      </div>
    )
  const { hits } = found
  const sessions = new Map(found.sessions.map((session) => [session.agentId, session]))
  const now = inspector.clock.now()
  return (
    <section class="home-search" aria-label={`Messages with “${words}”`}>
      <p class="muted small" role="status">
        {hits.length === 0
          ? `No messages with “${words}”.`
          : `${counted(hits.length, 'record')}${hits.length === mostHits ? ', the best' : ''} of ${counted(sessions.size, 'session')}`}
      </p>
      <ul>
        {hits.map(({ agentId, seq, excerpt }) => {
          const session = sessions.get(agentId)
          return (
            <li key={`${agentId} ${seq}`}>
              <a class="home-hit" href={formatRoute({ ...emptyRoute, agent: agentId, q: shownOf(text, excerpt) })}>
                <bdi class="cut">{session === undefined ? agentId : nameOf(session)}</bdi>
                <bdi class="cut muted grow">{oneLine(excerpt, 240)}</bdi>
                <span class="faint small number">
                  {session === undefined ? '' : `${age(now - session.updatedAt)} ago`}
                </span>
              </a>
            </li>
          )
        })}
      </ul>
    </section>
  )
}

/**
 * Returns the text for the agent's own search, which finds a text only literally: the query if the excerpt has it,
 * or else the first of its words that the excerpt has; `null` if there is none.
 */
function shownOf(text: string, excerpt: string): string | null {
  const said = excerpt.toLowerCase()
  return [text, ...text.split(/\s+/)].find((part) => said.includes(part.toLowerCase())) ?? null
}
