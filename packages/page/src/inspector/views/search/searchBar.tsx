import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks'
import { useSignal } from '@preact/signals'
import { formatNodeId } from '../../../../../../src/protocol/text/nodeIds.ts'
import { counted } from '../../../../../charts/src/amounts.ts'
import type { FollowedAgent } from '../../model/agent/followedAgent.ts'
import { hitRows, type HitFilter } from '../../model/search/hitRows.ts'
import { HitList } from './hitList.tsx'
import { hitMarks, noMarks } from '../../model/search/hitMarks.ts'
import type { Inspector } from '../../model/shell/inspector.ts'
import type { Hit } from '../../model/search/logSearch.ts'
import { formatCount } from '../../model/words/numbers.ts'
import { Search } from '../../model/search/search.ts'
import { asksAnything } from '../../model/search/searchQuery.ts'
import { Icon } from '../../parts/icon.tsx'
import { SquareButton } from '../../parts/squareButton.tsx'

/** Milliseconds without typing after which the address is written: browsers limit how often it may change. */
const writtenAfterMs = 400

export interface SearchBarProps {
  readonly inspector: Inspector
  readonly view: FollowedAgent
}

/** A field that searches the agent that is shown and, with `agent:*`, its tree. */
export function SearchBar({ inspector, view }: SearchBarProps) {
  const search = useMemo(() => new Search({ clock: inspector.clock }), [inspector])
  const typed = useSignal(inspector.route.peek().q ?? '')
  const field = useRef<HTMLInputElement>(null)
  const cancelWrite = useRef<() => void>(() => {})
  const state = view.state.value
  const { client } = inspector.attached.value.connection
  const isRead = state.status === 'live' || state.status === 'past'

  // At once: what is typed next is meant for it.
  useLayoutEffect(() => field.current?.focus(), [])
  useEffect(() => () => close(search, cancelWrite.current), [search])
  // Somebody went back, or followed a link.
  const { q } = inspector.route.value
  useEffect(() => {
    if (q !== null && q.trim() !== typed.peek().trim()) typed.value = q
  }, [q])
  useEffect(() => {
    if (isRead) search.look(typed.value, { client, state: () => view.state.peek() })
  }, [typed.value, client, view, isRead])
  useEffect(() => search.grew(), [state.lastSeq, search])
  const marks = useMemo(() => search.marks(view.agentId), [search, view.agentId]).value
  useEffect(() => void (hitMarks.value = marks), [marks])

  const write = (): void => {
    cancelWrite.current()
    inspector.go({ q: typed.value.trim() === '' ? null : typed.value }, 'replace')
  }
  const type = (text: string): void => {
    typed.value = text
    cancelWrite.current()
    cancelWrite.current = inspector.clock.after(writtenAfterMs, write)
  }
  const [filter, setFilter] = useState<HitFilter | null>(null)
  const hits = search.hits.value
  const rows = useMemo(() => hitRows(hits, filter), [hits, filter])
  const chosen = hits[search.at.value]
  const choose = (hit: Hit): void => {
    search.goTo(hit)
    cancelWrite.current()
    show(inspector, hit, typed.value)
  }
  /** Goes to the next or previous match of the list, and from either end to the other. */
  const step = (by: 1 | -1): void => {
    const listed = rows.flatMap((row) => (row.type === 'hits' ? row.hits : []))
    if (listed.length === 0) return
    const from = chosen === undefined ? -1 : listed.indexOf(chosen)
    const next = from < 0 && by < 0 ? listed.length - 1 : (from + by + listed.length) % listed.length
    choose(listed[next]!)
  }
  const leave = (): void => {
    cancelWrite.current()
    inspector.isSearching.value = false
    inspector.go({ q: null }, 'replace')
  }
  const isTree = search.query.value.agents === 'tree'
  return (
    <search class="search-bar">
      <div class="search-line">
        <Icon name="search" />
        <input
          ref={field}
          id="search"
          class="input"
          type="search"
          dir="auto"
          value={typed.value}
          placeholder="Text, is:error, tool:name, agent:*"
          aria-label="Search this agent"
          autocomplete="off"
          spellcheck={false}
          maxLength={1_000}
          onInput={(event) => type(event.currentTarget.value)}
          onKeyDown={(event) => {
            const by = { Enter: event.shiftKey ? -1 : 1, ArrowDown: 1, ArrowUp: -1, Escape: 0 } as const
            if (event.isComposing || !Object.hasOwn(by, event.key)) return
            event.preventDefault()
            const way = by[event.key as keyof typeof by]
            if (way === 0) leave()
            else step(way)
          }}
        />
        <span class="search-count number" role="status">
          {isRead || typed.value.trim() === ''
            ? countOf(search)
            : `Reading the log: ${counted(state.lastSeq, 'record')}`}
        </span>
        <SquareButton label="Previous match" hint="Previous match (Shift+Enter)" isQuiet onClick={() => step(-1)}>
          <span class="search-up">
            <Icon name="more" />
          </span>
        </SquareButton>
        <SquareButton label="Next match" hint="Next match (Enter)" isQuiet onClick={() => step(1)}>
          <Icon name="more" />
        </SquareButton>
        <button
          type="button"
          class="chip"
          aria-pressed={isTree}
          title="Search all agents in the tree (agent:*)"
          onClick={() => type(isTree ? typed.value.replace(/\s?\bagent:\*/gi, '') : `${typed.value.trim()} agent:*`)}
        >
          Tree
        </button>
        <SquareButton label="Close search" hint="Close (Esc)" isQuiet onClick={leave}>
          <Icon name="close" />
        </SquareButton>
      </div>
      <Found search={search} shown={view.agentId} />
      {hits.length < 2 ? null : (
        <HitList
          hits={hits}
          rows={rows}
          wanted={search.query.value.text}
          chosen={chosen}
          filter={filter}
          onFilter={setFilter}
          onChoose={choose}
        />
      )}
    </search>
  )
}

function close(search: Search, cancel: () => void): void {
  cancel()
  search.close()
  hitMarks.value = noMarks
}

function countOf({ hits, at, query, progress }: Search): string {
  if (!asksAnything(query.value)) return ''
  const count = hits.value.length
  if (count === 0) return progress.value.isBusy ? '…' : 'No matches'
  const agents = new Set(hits.value.map(({ agentId }) => agentId)).size
  const where = agents > 1 ? ` in ${formatCount(agents)} agents` : ''
  return at.value < 0
    ? `${formatCount(count)} ${count === 1 ? 'match' : 'matches'}${where}`
    : `${formatCount(at.value + 1)} of ${formatCount(count)}${where}`
}

/** Position among the hits, and the progress of a search of the tree. */
function Found({ search, shown }: { readonly search: Search; readonly shown: string }) {
  const hit = search.hits.value[search.at.value]
  const { isBusy, read, known, left } = search.progress.value
  if (hit === undefined && !isBusy && left.length === 0) return null
  return (
    <div class="search-found small">
      {hit === undefined ? null : (
        <span class="cut grow">
          <span class="mono">
            {hit.agentId === shown ? '' : `${hit.agentId} · `}
            {hit.node === null ? `record ${hit.seq}` : formatNodeId(hit.node)}
          </span>{' '}
          <span class="muted">{hit.excerpt}</span>
        </span>
      )}
      {isBusy ? (
        <>
          <progress value={read} max={Math.max(1, known)} aria-label="Logs searched" />
          <span class="number">
            {formatCount(read)} of {counted(known, 'agent')}
          </span>
          <button type="button" class="button quiet" onClick={() => search.stop()}>
            Stop
          </button>
        </>
      ) : null}
      {left.length === 0 ? null : (
        <span class="badge warn cut" title={left.join('\n')}>
          Incomplete: {left[0]}
          {left.length > 1 ? `, and ${left.length - 1} more` : ''}
        </span>
      )}
    </div>
  )
}

/** Shows a hit: its message or, if it is about none, its record in the timeline. */
function show(inspector: Inspector, { agentId, node, seq }: Hit, typed: string): void {
  const isOther = inspector.route.peek().agent !== agentId
  const view = inspector.agent.peek()
  const q = typed.trim() === '' ? null : typed
  const shown = inspector.route.peek().view
  const inList = shown === 'timeline' || node === null ? 'timeline' : 'conversation'
  inspector.go({ ...(isOther ? { agent: agentId } : {}), node, view: inList, q }, isOther ? 'push' : 'replace')
  if (isOther || inList !== 'timeline' || view === null) return
  inspector.event.value = view.state.peek().events.find((event) => event.seq === seq && 'v' in event) ?? null
}
