import type { Definition, Host, Session } from '../contender.ts'
import { heapAtRest } from '../measure.ts'
import { echoOf, newSeen, turnsOf, type Seen } from '../script.ts'
import { counted, verify, type MeasuredWorkload, type TimedWorkload } from '../workload.ts'
import { turnWorkload } from './turn.ts'

/** `own`: every agent has a definition of its own; `shared`: all have the same one. */
export type Defined = 'own' | 'shared'

/** Three turns with a tool, and the answer. */
const turns = 4
const deltas = 20

const define = (host: Host, seen: Seen): Definition =>
  host.define({ name: 'crowd', seen, script: turnsOf(turns, deltas), tools: [echoOf(seen)] })

/** Runs so many agents at once, and gives them. */
async function runCrowd(host: Host, agents: number, defined: Defined): Promise<readonly Session[]> {
  const seen = newSeen()
  const shared = define(host, seen)
  const sessions = await Promise.all(
    Array.from({ length: agents }, async () =>
      (defined === 'shared' ? shared : define(host, seen)).create({ onDelta: () => (seen.deltas += 1) }),
    ),
  )
  const endings = await Promise.all(sessions.map((session) => session.prompt('go')))
  for (const ending of endings) verify({ ...ending }, { how: 'done', turns })
  const all = agents * turns
  verify(counted(seen), { asked: all, deltas: all * deltas, tools: all - agents })
  return sessions
}

/** Agents that are made and run at the same time. */
export function crowdWorkload(agents: number, defined: Defined): TimedWorkload {
  return {
    type: 'timed',
    name: `crowd-${defined}`,
    title: `${agents.toLocaleString('en-US')} agents at once, ${nameOf(defined)}`,
    unit: 'µs',
    per: 'agent',
    units: agents,
    calls: agents * turns,
    batches: 1,
    warmUp: turnWorkload(100),
    prepare: async (host) => async () => {
      await runCrowd(host, agents, defined)
    },
  }
}

/** Measures the memory that such an agent retains while its conversation is held. */
export function liveWorkload(agents: number, defined: Defined): MeasuredWorkload {
  return {
    type: 'measured',
    name: `live-${defined}`,
    rows: [{ figure: 'bytes', title: `heap of an agent after its run, ${nameOf(defined)}`, unit: 'B' }],
    async measure(load, warm) {
      const host = await (await load()).open()
      await warm(host)
      const before = await heapAtRest()
      const sessions = await runCrowd(host, agents, defined)
      const bytes = ((await heapAtRest()) - before) / agents
      for (const session of sessions) verify({ messages: session.messages() }, { messages: 2 * turns })
      return { bytes }
    },
  }
}

/** Measures the cost of an agent that was made and never prompted. */
export function idleWorkload(agents: number, defined: Defined): MeasuredWorkload {
  return {
    type: 'measured',
    name: `idle-${defined}`,
    rows: [
      { figure: 'bytes', title: `heap of an idle agent, ${nameOf(defined)}`, unit: 'B' },
      { figure: 'create', title: `making an agent, ${nameOf(defined)}`, unit: 'µs' },
    ],
    async measure(load, warm) {
      const host = await (await load()).open()
      await warm(host)
      const seen = newSeen()
      const shared = define(host, seen)
      const sessions: Session[] = []
      const before = await heapAtRest()
      const started = process.cpuUsage()
      for (let agent = 0; agent < agents; agent += 1)
        sessions.push(await (defined === 'shared' ? shared : define(host, seen)).create())
      const { user, system } = process.cpuUsage(started)
      const bytes = ((await heapAtRest()) - before) / agents
      verify({ ...counted(seen), sessions: sessions.length }, { asked: 0, deltas: 0, tools: 0, sessions: agents })
      return { bytes, create: (user + system) / agents }
    },
  }
}

const nameOf = (defined: Defined): string => (defined === 'own' ? 'each its own definition' : 'one definition')
