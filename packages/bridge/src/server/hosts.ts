import { firstRecord } from '../../../../src/log/readHistory.ts'
import { hasCode, RuntimeError } from '../../../../src/protocol/errors.ts'
import type { HostView } from '../../../wire/src/hostView.ts'
import { machineSubject, type ChartSubject } from '../../../charts/src/chart.ts'
import { hostingOf, type OfferedMachine, type OpenHost } from '../../../xstate/src/hosts/registry.ts'
import type { Viewer } from './agentDirectory.ts'
import type { Bridge } from './bridge.ts'
import { historyOf, type HostHistory } from './hostHistory.ts'
import { newOutOfReach, type Reach } from './roles.ts'

/** Time for which a client waits for the next record of a machine, and interval between looks for it, in milliseconds. */
const wait = { most: 20_000, step: 100 } as const
/** Number of times that a machine which closes meanwhile is opened again for an event. */
const mostOpenings = 3

/** The client that makes the request. */
interface HostAccess {
  readonly reach: Reach
  checkAdmitted(): void
}

/** Returns the ids of the machines that are open in this process, within reach or not. */
export const openHosts = (runtime: object): readonly string[] =>
  [...hostingOf(runtime).open.values()].flatMap(({ view: { id, status } }) => (status === 'closed' ? [] : [id]))

/** Returns the open machines within a client's reach, then those that ended here recently. */
export function hostsWithin({ runtime }: Bridge, access: HostAccess): readonly HostView[] {
  const { open, ended } = hostingOf(runtime)
  const views = [...[...open.values()].map(({ view }) => view), ...ended.values()]
  return views.filter(({ id }) => isWithin(access, id))
}

const isWithin = (access: HostAccess, id: string): boolean => access.reach({ id, path: [], metadata: undefined })

/**
 * Sends an event to a machine, which is opened if it is closed. Rejects with `MACHINE_NOT_FOUND`,
 * `BRIDGE_FORBIDDEN`, as `send` of a machine does, and as opening it does.
 */
export async function sendToHost(
  bridge: Bridge,
  access: HostAccess,
  { hostId, event, requestId }: { readonly hostId: string; readonly event: object; readonly requestId: string },
): Promise<void> {
  if (isPlaced(bridge)) {
    checkWithin(access, hostId)
    return await bridge.dispatch!.event!({ hostId, event }, requestId)
  }
  for (let openings = 1; ; openings += 1) {
    const host = await seenHost(bridge, access, hostId)
    access.checkAdmitted()
    try {
      await host.send(event, { requestId })
    } catch (thrown) {
      if (!hasCode(thrown, 'MACHINE_CLOSED') || host.view.status === 'done' || openings === mostOpenings) throw thrown
      continue
    }
    closeLater(bridge, host)
    return
  }
}

/** A client's request for a machine. */
interface AskedHost {
  readonly hostId: string
  readonly after?: number
  readonly records?: boolean
}

/**
 * Returns the state of a machine. With `after`, waits until its log has a record after that one, or for a
 * while. With `records`, returns those records as texts. Rejects as `sendToHost` does.
 */
export async function readHost(
  bridge: Bridge,
  access: HostAccess,
  { hostId, after, records }: AskedHost,
): Promise<{ readonly host: HostView } | HostHistory> {
  let host = await seenHost(bridge, access, hostId)
  const until = bridge.clock.now() + wait.most
  while (!hasNews(host.view, after) && bridge.clock.now() < until) {
    await new Promise<void>((resolve) => bridge.clock.after(wait.step, resolve))
    access.checkAdmitted()
    if (isPlaced(bridge) && (await hasRecords(bridge, host.view))) host = await seenHost(bridge, access, hostId)
  }
  if (isPlaced(bridge) && host.view.status === 'closed') host = await seenHost(bridge, access, hostId)
  closeLater(bridge, host)
  return records === true ? await historyOf(bridge.store, host.view, after ?? 0) : { host: host.view }
}

const hasNews = ({ seq, status }: HostView, after: number = -1): boolean => seq > after || status !== 'active'

/** Returns true if a machine's log has records after its view. */
async function hasRecords({ store }: Bridge, { id, seq }: HostView): Promise<boolean> {
  for await (const _ of store.read(id, seq + 1, 1)) return true
  return false
}

/** Returns the subject of a chart: an agent or, if there is none, a machine. Rejects with `AGENT_NOT_FOUND`, and as `sendToHost` does. */
export async function charted(bridge: Bridge, access: HostAccess & Viewer, id: string): Promise<ChartSubject> {
  try {
    return await bridge.agents.charted(id, access)
  } catch (thrown) {
    const machine = hasCode(thrown, 'AGENT_NOT_FOUND') ? await hostChart(bridge, access, id) : undefined
    if (machine === undefined) throw thrown
    return machine
  }
}

/** Returns the subject of a machine's chart; `undefined` if there is no machine with this id. */
async function hostChart(bridge: Bridge, access: HostAccess, id: string): Promise<ChartSubject | undefined> {
  const isOpen = hostingOf(bridge.runtime).open.has(id)
  if (!isOpen && (await firstRecord(bridge.store, id))?.type !== 'host.created') return undefined
  const host = await seenHost(bridge, access, id)
  closeLater(bridge, host)
  return machineSubject(host.definition)
}

/** Returns a machine for reading. If an engine places it and it is not open here, it is read from its log. Any other machine is opened. */
async function seenHost(bridge: Bridge, access: HostAccess, hostId: string): Promise<OpenHost> {
  const found = await foundHost(bridge, access, hostId)
  if ('view' in found) return found
  return await (isPlaced(bridge) ? found.read(bridge.runtime, hostId) : found.open(bridge.runtime, hostId))
}

/** Returns true if an engine places machines. None is then opened here for a client. */
const isPlaced = ({ dispatch }: Bridge): boolean => dispatch?.event !== undefined

function checkWithin(access: HostAccess, hostId: string): void {
  if (!isWithin(access, hostId)) throw newOutOfReach()
}

/** Returns the machine if it is open here, else the offer that can open it. Rejects with `MACHINE_NOT_FOUND`, `BRIDGE_FORBIDDEN`. */
async function foundHost(bridge: Bridge, access: HostAccess, hostId: string): Promise<OpenHost | OfferedMachine> {
  checkWithin(access, hostId)
  const { open, offered } = hostingOf(bridge.runtime)
  const host = open.get(hostId)
  if (host !== undefined && host.view.status !== 'closed') return host
  const created = await firstRecord(bridge.store, hostId)
  if (created?.type !== 'host.created')
    throw new RuntimeError('MACHINE_NOT_FOUND', `There is no machine "${hostId}" in this store.`)
  const machine = offered.get(created.machine)
  if (machine !== undefined) return machine
  throw new RuntimeError(
    'MACHINE_NOT_FOUND',
    `Machine "${created.machine}" of "${hostId}" is not known to this server.`,
  )
}

/** Closes a machine that nothing in this process uses, once it is at rest. */
function closeLater(bridge: Bridge, host: OpenHost): void {
  if (host.isAttended || isPlaced(bridge)) return
  void host.settled().then(() => (host.isAttended ? undefined : host.close()))
}
