import type { HostTimer } from '../../../../src/protocol/parts/hosts/hostRecords.ts'
import type { HostView } from '../../../wire/src/hostView.ts'
import type { MachineState } from './machineState.ts'
import { versionOf } from './keeping.ts'
import { asJson } from './plainJson.ts'
import type { KeptMachine } from './replica.ts'

/** Returns the summary of a machine's state for lists. */
export function viewOf({
  hostId: id,
  name: machine,
  version,
  state,
  seq,
  timers,
  isHere,
}: KeptMachine & {
  readonly version: string | undefined
  readonly state: MachineState
  readonly seq: number
  readonly timers: readonly HostTimer[]
  readonly isHere: boolean
}): HostView {
  const { status } = state
  return {
    id,
    machine,
    ...versionOf(version),
    status: isHere && status !== 'stopped' ? status : 'closed',
    value: asJson(state.value),
    seq,
    timers: timers.map(({ id: timer, event, due }) => ({ id: timer, type: event.type, due })),
    children: Object.entries(state.children).map(([child, actor]) => {
      const { status: childStatus, agentId } = actor.getSnapshot()
      return { id: child, status: childStatus, ...(agentId === undefined ? {} : { agentId }) }
    }),
  }
}
