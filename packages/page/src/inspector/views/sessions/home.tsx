import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks'
import { counted } from '../../../../../charts/src/amounts.ts'
import { standings, type Standing } from '../../../../../charts/src/standing.ts'
import type { Pending } from '../../../../../../src/protocol/runs/pending.ts'
import { placeOf, wordsOf } from '../../model/sessions/agentNames.ts'
import type { Inspector } from '../../model/shell/inspector.ts'
import { formatCount } from '../../model/words/numbers.ts'
import { heldRows, overviewOf, type Group, type Order, type OverviewRow } from '../../model/sessions/overview.ts'
import { alarmOf } from '../../model/sessions/alarm.ts'
import type { Cause } from '../../model/sessions/causes.ts'
import { goBack, loopTarget } from '../../model/sessions/goBack.ts'
import { causeKey, keyOf, linesOf } from '../../model/sessions/homeLines.ts'
import type { Rates } from '../../model/sessions/spendOfLate.ts'
import { isToldWhole } from '../../model/calls/pendingWords.ts'
import { retry } from '../../model/agent/retry.ts'
import { say } from '../../model/agent/say.ts'
import { standsOf } from '../../model/sessions/stands.ts'
import { Deciding } from '../../model/calls/settledCalls.ts'
import { EmptyState } from '../../parts/emptyState.tsx'
import { isKept } from '../../parts/keepFocus.ts'
import { laterPart } from '../../parts/later.tsx'
import { useNow } from '../../parts/useNow.ts'
import { VirtualList } from '../../parts/virtualList.tsx'
import { HomeCause, type CauseAct } from './homeCause.tsx'
import { HomeHead } from './homeHead.tsx'
import { HomeRow, type RowAct } from './homeRow.tsx'
import { HomeStrip } from './homeStrip.tsx'
import type { HomeMoreProps } from './homeMore.tsx'
import { ApprovalCard, QuestionCard } from '../calls/laterCards.ts'

const HomeMore = laterPart<HomeMoreProps>(
  <div class="home-tiles" />,
  async () => (await import('./homeMore.tsx')).HomeMore,
)

const titles: Readonly<Record<Group, string>> = {
  needs: 'Needs you',
  working: 'Working',
  rest: 'Done and idle',
}

/** All agents at a glance: those that need a person, those at work, and those that are done. */
export function Home({ inspector }: { readonly inspector: Inspector }) {
  const { directory, waiting, connection } = inspector.attached.value
  const agents = directory.agents.value
  const sessions = directory.sessions.value ?? []
  const settling = directory.settling.value
  const { show } = inspector.route.value
  const [filter, setFilter] = useState('')
  const [active, setActive] = useState<string | null>(null)
  const [opened, setOpened] = useState<string | null>(null)
  const moved = useRef(0)
  const held = useRef<readonly OverviewRow[] | null>(null)
  const [isHeld, setHeld] = useState(false)
  const [order, setOrder] = useState<Order>('need')
  const [turned, setTurned] = useState<ReadonlySet<string>>(new Set())
  const [rates, setRates] = useState<Rates>(new Map())
  const left = directory.left.value
  const overview = useMemo(
    () => overviewOf(agents, sessions, { show, words: wordsOf(filter), settling, left, order }),
    [agents, sessions, show, filter, settling, left, order],
  )
  const now = useNow(inspector.clock, overview.counts.working > 0 ? 1_000 : 15_000)
  const rows = isHeld && held.current !== null ? heldRows(held.current, overview.rows, agents) : overview.rows
  held.current = isHeld ? rows : null
  const rest = filter === '' && show.length === 0 ? directory.sessionTotal.value - sessions.length : 0
  const more = agents.size > 0 || sessions.length > 0 ? rest : 0
  const lines = useMemo(() => linesOf(rows, { order, turned, rest: more }), [rows, order, turned, more])
  const at = lines.findIndex((line) => keyOf(line) === active)
  const why = inspector.whyNotApprove.value
  const [deciding] = useState(() => new Deciding(inspector.clock))
  /** The row to which the person has moved by a key or a click. */
  const chosen = useRef<string | null>(null)
  const waits = rows.flatMap(({ pending }) => pending ?? [])
  const target = lines[at]?.type === 'row' ? (lines[at].row.pending ?? undefined) : undefined
  // At once, as a key that is pressed twice comes before the next frame.
  useLayoutEffect(() => deciding.show(waits, target, target === chosen.current))
  useEffect(() => () => deciding.close(), [deciding])
  const mayDecide = (key: string): boolean => deciding.may(key) && !inspector.deciding.drafts.value.has(key)

  const pendingOf = (row: OverviewRow): Pending | undefined => {
    if (row.pending === null) return undefined
    const agent = agents.get(row.agentId)
    if (agent === undefined) return undefined
    return waiting.of(row.agentId, standsOf(agent).keys).value?.get(row.pending)
  }
  const moveTo = (from: number, by: 1 | -1): void => {
    let index = from
    while (lines[index] !== undefined && lines[index]!.type === 'heading') index += by
    const line = lines[index]
    moved.current += 1
    if (line?.type !== 'row' && line?.type !== 'cause') return
    chosen.current = keyOf(line)
    setActive(keyOf(line))
  }
  /** Leaves a decided row and chooses the next one that waits, so that a second press does not fall on the row that took its place. */
  const leave = (row: OverviewRow): void => {
    const next = waits[waits.indexOf(row.key) + 1]
    chosen.current = null
    setActive(next ?? null)
    setOpened(null)
  }
  const act = (row: OverviewRow, what: RowAct, value?: unknown): void => {
    if (what === 'open') return setOpened(opened === row.key ? null : row.key)
    if (why !== null) return
    const agent = connection.client.agent(row.agentId)
    if (what === 'retry' && row.standing === 'failed') void inspector.attempt(() => retry(agent))
    else if (what === 'resume') void inspector.attempt(() => say(agent, 'resume', ''))
    else if (what === 'say') return talkTo(row.agentId)
    const before = loopTarget(row)
    if (what === 'goBack' && before !== undefined) void inspector.attempt(() => goBack(agent, before))
    const pending = pendingOf(row)
    if (what === 'answer' && pending !== undefined) {
      leave(row)
      void inspector.attempt(() => agent.decide(pending.key, { value }))
    }
    if ((what !== 'approve' && what !== 'deny') || pending?.kind !== 'approval') return
    // Nobody approves what the line has no room for: its card has all of it.
    if (what === 'approve' && opened !== row.key && !isShownWhole(row, pending)) return setOpened(row.key)
    leave(row)
    void inspector.attempt(() => agent.decide(pending.key, what))
  }
  const talkTo = (agentId: string): void => {
    inspector.go({ agent: agentId })
    // The field is there once the agent is drawn.
    inspector.clock.after(100, () => document.getElementById('prompt')?.focus())
  }
  const actOn = (cause: Cause, what: CauseAct): void => {
    setActive(causeKey(cause))
    if (what === 'turn') {
      const next = new Set(turned)
      if (!next.delete(cause.key)) next.add(cause.key)
      setTurned(next)
      return
    }
    if (why !== null || !isMeant(cause, what)) return
    void import('./homeMore.tsx').then(({ actOnCause }) => actOnCause(inspector, cause, what))
  }
  const isShownWhole = (row: OverviewRow, pending: Pending): boolean => {
    const index = lines.findIndex((line) => line.type === 'row' && line.row.key === row.key)
    const words = document.querySelector(`#overview-${index} .home-what`)
    return isToldWhole(pending) && (words === null || words.scrollWidth <= words.clientWidth)
  }
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target !== event.currentTarget) return
    const line = lines[at]
    const row = line?.type === 'row' ? line.row : undefined
    const cause = line?.type === 'cause' ? line.cause : undefined
    const turn = (): unknown => cause !== undefined && actOn(cause, 'turn')
    // What was typed in its card would be lost, and a second press is meant for the row before.
    const once = (what: RowAct) => () =>
      row?.pending != null && !event.repeat && mayDecide(row.pending) && act(row, what)
    const keys: Readonly<Record<string, () => unknown>> = {
      ArrowDown: () => moveTo(at < 0 ? 0 : at + 1, 1),
      ArrowUp: () => at > 0 && moveTo(at - 1, -1),
      PageDown: () => moveTo(Math.min(lines.length - 1, Math.max(0, at) + 20), -1),
      PageUp: () => moveTo(Math.max(0, at - 20), 1),
      Home: () => moveTo(0, 1),
      End: () => moveTo(lines.length - 1, -1),
      Enter: () => (row === undefined ? turn() : inspector.go(placeOf(row.of))),
      ' ': () => (row?.pending == null ? turn() : act(row, 'open')),
      y: once('approve'),
      n: once('deny'),
      r: () => {
        if (event.repeat) return
        if (row !== undefined) act(row, row.standing === 'paused' ? 'resume' : 'retry')
        else if (cause !== undefined && cause.standing !== 'waiting')
          actOn(cause, cause.standing === 'paused' ? 'resume' : 'retry')
      },
    }
    const key = keys[event.key]
    if (key === undefined || (event.key === 'n' && row?.pending == null)) return
    event.preventDefault()
    key()
  }
  const toggle = (standing: Standing): void => {
    setHeld(false)
    const next = standings.filter((one) => (one === standing ? !show.includes(one) : show.includes(one)))
    inspector.go({ show: next }, 'replace')
  }
  const focusList = (): void => document.getElementById('overview')?.focus()

  return (
    <main class="agent home" aria-label="Overview">
      <h1 class="hidden">Overview of all agents</h1>
      <HomeStrip
        overview={overview}
        notices={inspector.notices}
        shown={show}
        now={now}
        filter={filter}
        onToggle={toggle}
        onFilter={(text) => {
          setHeld(false)
          setFilter(text)
        }}
        onLeave={() => {
          focusList()
          if (at < 0) moveTo(0, 1)
        }}
      />
      <HomeMore
        inspector={inspector}
        filter={filter}
        onFilter={setFilter}
        overview={overview}
        now={now}
        onRates={setRates}
      />
      <HomeHead order={order} onOrder={setOrder} />
      {lines.length === 0 ? (
        <EmptyState icon="search" title="No matching agents">
          <button
            type="button"
            class="button"
            onClick={() => {
              setFilter('')
              inspector.go({ show: [] }, 'replace')
            }}
          >
            Show all
          </button>
        </EmptyState>
      ) : (
        <VirtualList
          class="home-list"
          count={lines.length}
          rowHeight={28}
          isMeasured
          keyOf={(index) => keyOf(lines[index]!)}
          // With its heading, the first is in view.
          scrollTo={at === 1 ? 0 : at}
          scrollMark={moved.current}
          attributes={{
            id: 'overview',
            role: 'grid',
            'aria-label': `${counted(rows.length, 'row')}: agents that need you first`,
            'aria-rowcount': lines.length,
            'aria-activedescendant': at < 0 ? undefined : `overview-${at}`,
            'aria-keyshortcuts': target !== undefined && mayDecide(target) ? 'y n' : undefined,
            onKeyDown,
            onFocus: (event: FocusEvent) => {
              if (at < 0 && !isKept && event.target === event.currentTarget) moveTo(0, 1)
            },
            onPointerEnter: ({ pointerType }: PointerEvent) => setHeld(pointerType === 'mouse'),
            onPointerLeave: () => setHeld(false),
          }}
          row={(index) => {
            const line = lines[index]!
            if (line.type === 'heading') return <Heading {...line} />
            if (line.type === 'more') return <More count={line.count} onRead={() => void directory.readMore()} />
            if (line.type === 'cause')
              return (
                <HomeCause
                  cause={line.cause}
                  index={index}
                  isOpen={line.isOpen}
                  isActive={index === at}
                  why={why}
                  onAct={(what) => actOn(line.cause, what)}
                />
              )
            const { row } = line
            const pending = pendingOf(row)
            const isOpen = opened === row.key && pending !== undefined
            return (
              <>
                <HomeRow
                  row={row}
                  index={index}
                  pending={pending}
                  now={now}
                  isActive={index === at}
                  isOpen={isOpen}
                  why={why}
                  isBelow={line.isBelow}
                  alarm={alarmOf(row, connection.client.alertUsd)}
                  rate={row.of.path.length > 0 ? 0 : (rates.get(row.agentId) ?? 0)}
                  onChoose={() => inspector.go(placeOf(row.of))}
                  onAct={(what, value) => {
                    setActive(row.key)
                    act(row, what, value)
                  }}
                />
                {isOpen ? (
                  <div class="home-card" role="row">
                    <div role="gridcell">
                      {pending.kind === 'approval' ? (
                        <ApprovalCard inspector={inspector} via={row.agentId} approval={pending} />
                      ) : (
                        <QuestionCard inspector={inspector} via={row.agentId} pending={pending} />
                      )}
                    </div>
                  </div>
                ) : null}
              </>
            )
          }}
        />
      )}
    </main>
  )
}

/** Asks for confirmation of an action that cannot be taken back. Returns true if the action is to be done. */
const isMeant = ({ rows }: Cause, what: CauseAct): boolean =>
  (what !== 'deny' && what !== 'goBack') ||
  confirm(
    what === 'deny'
      ? `Deny ${counted(rows.length, 'call')}?`
      : `Take ${counted(rows.length, 'agent')} back to before the loop?`,
  )

const Heading = ({ group, count }: { readonly group: Group; readonly count: number }) => (
  <div class={`home-heading is-${group}`} role="row">
    <span role="rowheader">
      {titles[group]} <span class="count number">{formatCount(count)}</span>
    </span>
  </div>
)

const More = ({ count, onRead }: { readonly count: number; readonly onRead: () => void }) => (
  <div class="home-heading" role="row">
    <span role="gridcell">
      <button type="button" class="button quiet slim" onClick={onRead}>
        {formatCount(count)} more at rest
      </button>
    </span>
  </div>
)
