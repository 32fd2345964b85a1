import type { HostView } from '../../../../../bridge/src/client/index.ts'
import { hostStatuses } from '../../../../../charts/src/hostWords.ts'
import { emptyRoute, formatRoute } from '../../model/shell/route.ts'
import { StateDot } from '../../parts/stateDot.tsx'

const dots: Readonly<Record<HostView['status'], string>> = {
  active: 'running',
  done: 'completed',
  error: 'failed',
  closed: 'closed',
}

/** Status of a machine, in a word. */
export const HostStatus = ({ status }: { readonly status: HostView['status'] }) => (
  <span class="host-status">
    <StateDot state={dots[status]} /> {hostStatuses[status]}
  </span>
)

/** The agents in a machine, each a link. */
export const AgentLinks = ({ of: children }: { readonly of: HostView['children'] }) => (
  <>
    {children.map(({ id, agentId }) =>
      agentId === undefined ? null : (
        <a key={id} class="mono" href={formatRoute({ ...emptyRoute, agent: agentId })} title={`Agent ${agentId}`}>
          {id}
        </a>
      ),
    )}
  </>
)
