import { counted } from '../../../../../charts/src/amounts.ts'
import { stateWords, timerWords } from '../../../../../charts/src/hostWords.ts'
import type { HostView } from '../../../../../bridge/src/client/index.ts'
import { emptyRoute, formatRoute } from '../../model/shell/route.ts'
import { AgentLinks, HostStatus } from './hostParts.tsx'

export interface HomeHostsProps {
  readonly hosts: readonly HostView[]
  readonly now: number
}

/** The machines that the server keeps, one per line: the status, the agents, and what each machine waits for. */
export const HomeHosts = ({ hosts, now }: HomeHostsProps) => (
  <section class="home-hosts" aria-label={counted(hosts.length, 'machine')}>
    <h2>
      Machines <span class="count number">{hosts.length}</span>
    </h2>
    <ul>
      {hosts.map((host) => (
        <HostLine key={host.id} host={host} now={now} />
      ))}
    </ul>
  </section>
)

function HostLine({ host, now }: { readonly host: HostView; readonly now: number }) {
  const { id, machine, status, value, timers, children } = host
  const [next, ...others] = timers
  return (
    <li class="home-host">
      <a class="home-host-name" href={formatRoute({ ...emptyRoute, host: id })}>
        <bdi>{id}</bdi> {machine === id ? null : <span class="muted">{machine}</span>}
      </a>
      <HostStatus status={status} />
      <strong class="mono home-host-state">{stateWords(value)}</strong>
      {next === undefined || status !== 'active' ? null : (
        <span class="muted">
          {timerWords(next, now)}
          {others.length === 0 ? '' : `, ${others.length} more`}
        </span>
      )}
      <AgentLinks of={children} />
    </li>
  )
}
