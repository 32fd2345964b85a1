import { useContext, useMemo, useState } from 'preact/hooks'
import { formatNodeId } from '../../../../../../src/protocol/text/nodeIds.ts'
import { hitCounts, hitFilters, markedParts, type HitFilter, type HitRow } from '../../model/search/hitRows.ts'
import type { Hit } from '../../model/search/logSearch.ts'
import { formatCount } from '../../model/words/numbers.ts'
import { dayTime, exactTime } from '../../model/words/dayTime.ts'
import { AgentNames } from '../../parts/agentNames.ts'
import { VirtualList } from '../../parts/virtualList.tsx'

/** Height of a row in pixels. */
const rowHeight = 26

const filterWords: Readonly<Record<HitFilter, string>> = {
  said: 'said',
  thought: 'thought',
  asked: 'asked of tools',
  answered: 'answered by tools',
  other: 'by the runtime',
  errors: 'errors',
}

export interface HitListProps {
  readonly hits: readonly Hit[]
  readonly rows: readonly HitRow[]
  /** The text that was searched for, in lower case. */
  readonly wanted: string
  /** The match that was shown last. */
  readonly chosen: Hit | undefined
  readonly filter: HitFilter | null
  readonly onFilter: (filter: HitFilter | null) => void
  readonly onChoose: (hit: Hit) => void
}

/** Matches of a search by agent, with the words marked, and chips that show one kind alone. */
export function HitList({ hits, rows, wanted, chosen, filter, onFilter, onChoose }: HitListProps) {
  const counts = useMemo(() => hitCounts(hits), [hits])
  const [isOpen, setOpen] = useState(true)
  const nameOf = useContext(AgentNames)
  const at = rows.findIndex((row) => row.type === 'hits' && chosen !== undefined && row.hits.includes(chosen))
  const chip = (one: HitFilter | null, label: string, count: number) => (
    <button
      key={label}
      type="button"
      class="chip"
      aria-pressed={filter === one}
      onClick={() => onFilter(filter === one ? null : one)}
    >
      {label} <strong class="number">{formatCount(count)}</strong>
    </button>
  )
  return (
    <div class="search-list">
      <div class="search-chips" role="group" aria-label="Show only matches that were">
        {chip(null, 'all', hits.length)}
        {hitFilters.map((one) => {
          const count = counts.get(one)
          return count === undefined ? null : chip(one, filterWords[one], count)
        })}
        <span class="grow" />
        <button type="button" class="chip" aria-pressed={isOpen} onClick={() => setOpen(!isOpen)}>
          List
        </button>
      </div>
      {isOpen ? (
        <VirtualList
          class="search-hits"
          count={rows.length}
          rowHeight={rowHeight}
          keyOf={(index) => keyOf(rows[index]!)}
          scrollTo={at}
          attributes={{
            role: 'listbox',
            id: 'search-hits',
            'aria-label': 'Matches',
            style: { height: `min(22vh, ${rowHeight * rows.length}px)` },
          }}
          row={(index) => {
            const row = rows[index]!
            return row.type === 'agent' ? (
              <div class="search-agent small muted" role="presentation">
                <bdi class="cut">{nameOf(row.agentId)}</bdi>
                {nameOf(row.agentId) === row.agentId ? null : <bdi class="faint cut">{row.agentId}</bdi>} ·{' '}
                {formatCount(row.count)}
              </div>
            ) : (
              <HitLine hits={row.hits} wanted={wanted} isChosen={index === at} onChoose={onChoose} />
            )
          }}
        />
      ) : null}
    </div>
  )
}

interface HitLineProps {
  /** Matches that read the same. */
  readonly hits: readonly Hit[]
  readonly wanted: string
  readonly isChosen: boolean
  readonly onChoose: (hit: Hit) => void
}

function HitLine({ hits, wanted, isChosen, onChoose }: HitLineProps) {
  const hit = hits[0]!
  return (
    <div
      class={`search-hit ${isChosen ? 'active' : ''}`}
      role="option"
      aria-selected={isChosen}
      onClick={() => onChoose(hit)}
    >
      <span class="mono faint">{hit.node === null ? `#${hit.seq}` : formatNodeId(hit.node)}</span>
      <bdi class={`cut ${hit.isError ? 'tone-bad' : 'muted'}`}>
        {hit.who}
        {hit.isError ? ' ✕' : ''}
      </bdi>
      <bdi class="cut">
        {markedParts(hit.excerpt, wanted).map(({ text, isMarked }, index) =>
          isMarked ? <mark key={index}>{text}</mark> : text,
        )}
      </bdi>
      <span class="faint small">{hits.length === 1 ? '' : `× ${formatCount(hits.length)} the same`}</span>
      <time class="faint small number" title={exactTime(hit.time)}>
        {dayTime(hit.time, hit.time)}
      </time>
    </div>
  )
}

const keyOf = (row: HitRow): string =>
  row.type === 'agent'
    ? ` ${row.agentId}`
    : row.hits[0]!.agentId + (row.hits[0]!.isShared ? ' past ' : ' ') + row.hits[0]!.seq
