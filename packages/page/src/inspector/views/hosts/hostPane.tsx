import { useEffect, useMemo } from 'preact/hooks'
import { useSignal } from '@preact/signals'
import type { HostView } from '../../../../../bridge/src/client/index.ts'
import { dueWords, eventInWords, stateWords } from '../../../../../charts/src/hostWords.ts'
import type { ServedChart } from '../../../../../charts/src/servedChart.ts'
import { FollowedHost, type HostState } from '../../model/hosts/followedHost.ts'
import type { Inspector } from '../../model/shell/inspector.ts'
import { exactTime } from '../../model/words/dayTime.ts'
import { EmptyState } from '../../parts/emptyState.tsx'
import { Skeleton } from '../../parts/skeleton.tsx'
import { useNow } from '../../parts/useNow.ts'
import { HostChart } from './hostChart.tsx'
import { HostEvents } from './hostEvents.tsx'
import { AgentLinks, HostStatus } from './hostParts.tsx'

export interface HostPaneProps {
  readonly inspector: Inspector
  readonly id: string
}

/** A machine that the server keeps: its chart, what it waits for, the agents in it, and what it was given. */
export function HostPane({ inspector, id }: HostPaneProps) {
  const { connection } = inspector.attached.value
  const isOpen = connection.status.value === 'open'
  const maySee = connection.may.value('see.all')
  return (
    <main class="agent host" aria-label={`Machine ${id}`}>
      {maySee ? (
        <Followed inspector={inspector} id={id} />
      ) : (
        <>
          <h1 class="hidden">Machine {id}</h1>
          {isOpen ? (
            <EmptyState icon="warning" title="Not for this token">
              <p>To see machines you need a token with the right "see.all".</p>
            </EmptyState>
          ) : (
            <Skeleton label="Waiting for the server" />
          )}
        </>
      )}
    </main>
  )
}

function Followed({ inspector, id }: HostPaneProps) {
  const { client } = inspector.attached.value.connection
  const followed = useMemo(() => new FollowedHost(client, id, inspector.clock), [client, id])
  useEffect(() => () => followed.close(), [followed])
  const { host, records, error } = followed.state.value
  const chart = useHostChart(inspector, host)
  const problem =
    error === null ? null : <Problem error={error} isKnown={host !== null} onAgain={() => followed.again()} />
  if (host === null)
    return (
      <>
        <h1 class="hidden">Machine {id}</h1>
        {problem ?? <Skeleton label="Loading the machine" />}
      </>
    )
  const { machine, version, status, value, children } = host
  const agents = children.filter(({ agentId }) => agentId !== undefined)
  return (
    <>
      <header class="host-head">
        <h1>{id}</h1>
        <span class="muted">
          {machine}
          {version === undefined ? '' : `, version ${version}`}
        </span>
        <HostStatus status={status} />
        <strong class="mono host-state">{stateWords(value)}</strong>
      </header>
      {problem}
      <div class="host-body">
        <HostChart key={id} chart={chart} value={value} />
        <div class="host-side scroll" tabIndex={0} role="group" aria-label="What it waits for, and its events">
          {status === 'active' ? <Timers host={host} inspector={inspector} /> : null}
          <section aria-label="Agents">
            <h2>Agents</h2>
            {agents.length === 0 ? (
              <p class="muted">No agent is at work in it.</p>
            ) : (
              <ul>
                {agents.map((child) => (
                  <li key={child.id}>
                    <AgentLinks of={[child]} /> <span class="muted">{child.status}</span>
                  </li>
                ))}
              </ul>
            )}
          </section>
          <HostEvents records={records} />
        </div>
      </div>
    </>
  )
}

/** Returns the chart of a machine, once it is known that there is one; `null` if the server gives none. */
function useHostChart(inspector: Inspector, host: HostView | null): ServedChart | null | undefined {
  const chart = useSignal<ServedChart | null | undefined>(undefined)
  const id = host?.id
  useEffect(() => {
    if (id === undefined) return undefined
    let isOver = false
    void inspector.charts.readFull(id).then((read) => {
      if (!isOver) chart.value = read
    })
    return () => void (isOver = true)
  }, [inspector, id])
  return chart.value
}

interface ProblemProps {
  readonly error: NonNullable<HostState['error']>
  readonly isKnown: boolean
  readonly onAgain: () => void
}

function Problem({ error: { code, message }, isKnown, onAgain }: ProblemProps) {
  const again = (
    <button type="button" class="button" onClick={onAgain}>
      Try again
    </button>
  )
  if (isKnown)
    return (
      <div class="banner warn" role="alert">
        <span class="grow">It is followed no longer: {message}</span>
        {again}
      </div>
    )
  return (
    <EmptyState icon="warning" title={code === 'MACHINE_NOT_FOUND' ? 'No such machine' : 'Could not read the machine'}>
      <p role="alert">{message}</p>
      {again}
    </EmptyState>
  )
}

function Timers({ host, inspector }: { readonly host: HostView; readonly inspector: Inspector }) {
  const now = useNow(inspector.clock, 1_000)
  return (
    <section aria-label="Timers">
      <h2>Timers</h2>
      {host.timers.length === 0 ? (
        <p class="muted">It waits for no time.</p>
      ) : (
        <ul>
          {host.timers.map(({ id, type, due }) => (
            <li key={id} title={exactTime(due)}>
              <span class="mono">{eventInWords(type)}</span> <span class="muted">{dueWords(due, now)}</span>
            </li>
          ))}
        </ul>
      )}
    </section>
  )
}
