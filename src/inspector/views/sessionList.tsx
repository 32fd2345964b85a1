import { useState } from 'preact/hooks'
import type { SessionEntry } from '../../protocol/frames.ts'
import type { Inspector } from '../model/inspector.ts'
import { formatCount } from '../model/numbers.ts'
import { StateDot } from '../parts/stateDot.tsx'
import { VirtualList } from '../parts/virtualList.tsx'

const day = new Intl.DateTimeFormat(undefined, { dateStyle: 'short' })
const hour = new Intl.DateTimeFormat(undefined, { timeStyle: 'short' })

/** The hour of today, else the day. */
const when = (time: number): string => (day.format(time) === day.format() ? hour : day).format(time)

/** It is not running, so a run its log leaves open was cut off; unless it ran since that log was read. */
function statusOf({ status, error }: SessionEntry, isSettling: boolean): string {
  if (error !== undefined) return 'failed'
  return isSettling ? '…' : status === 'running' ? 'interrupted' : status
}

/** Sessions that are not running, most recently written first: a list box by the ARIA pattern. */
export function SessionList({ inspector }: { readonly inspector: Inspector }) {
  const { directory } = inspector.attached.value
  const running = directory.agents.value
  const all = directory.sessions.value ?? []
  const sessions = all.filter(({ agentId }) => !running.has(agentId))
  const rest = directory.sessionTotal.value - all.length
  const settling = directory.settling.value
  const chosen = inspector.route.value.agent
  const [active, setActive] = useState(-1)
  const at = active >= 0 ? active : sessions.findIndex(({ agentId }) => agentId === chosen)
  const choose = (index: number): void => {
    if (index === sessions.length) void directory.readMore()
    else if (sessions[index] !== undefined) inspector.go({ agent: sessions[index].agentId })
  }
  const count = sessions.length + (rest > 0 ? 1 : 0)
  const onKeyDown = (event: KeyboardEvent): void => {
    const target = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: count - 1 }[event.key]
    if (target !== undefined) setActive(Math.max(0, Math.min(count - 1, target)))
    else if (event.key === 'Enter' || event.key === ' ') choose(at)
    else return
    event.preventDefault()
  }
  if (directory.sessions.value !== null && count === 0) return <p class="faint none-yet">None in the store.</p>
  return (
    <VirtualList
      class="agents"
      count={count}
      rowHeight={44}
      keyOf={(index) => sessions[index]?.agentId ?? ' more'}
      scrollTo={at}
      scrollMark={active}
      attributes={{
        id: 'sessions',
        role: 'listbox',
        'aria-label': 'Sessions at rest',
        'aria-activedescendant': at < 0 ? undefined : `session-${at}`,
        onKeyDown,
      }}
      row={(index) => (
        <SessionItem
          session={sessions[index]}
          rest={rest}
          isSettling={settling.has(sessions[index]?.agentId ?? '')}
          index={index}
          isChosen={sessions[index]?.agentId === chosen && chosen !== null}
          isActive={index === at}
          onChoose={() => {
            setActive(index)
            choose(index)
          }}
        />
      )}
    />
  )
}

interface ItemProps {
  /** `undefined`: the row that reads more. */
  readonly session: SessionEntry | undefined
  readonly rest: number
  readonly isSettling: boolean
  readonly index: number
  readonly isChosen: boolean
  readonly isActive: boolean
  readonly onChoose: () => void
}

function SessionItem({ session, rest, isSettling, index, isChosen, isActive, onChoose }: ItemProps) {
  const status = session === undefined ? '' : statusOf(session, isSettling)
  return (
    <div
      class={`agent-row ${isActive ? 'active' : ''}`}
      role="option"
      id={`session-${index}`}
      aria-selected={isChosen}
      onClick={onChoose}
    >
      {session === undefined ? (
        <span class="grow muted">{formatCount(rest)} more</span>
      ) : (
        <>
          <StateDot state={status} />
          <span class="grow">
            <span class="agent-name cut">{session.agentId}</span>
            <span class="agent-about cut">
              {session.error?.code ?? session.definition} · {status}
              {session.forkedFrom === undefined ? '' : ` · fork of ${session.forkedFrom}`}
            </span>
          </span>
          <time class="faint small number" dateTime={new Date(session.updatedAt).toISOString()}>
            {when(session.updatedAt)}
          </time>
        </>
      )}
    </div>
  )
}
