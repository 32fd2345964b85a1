import { echoOf, newSeen, turnsOf, type AgentSpec, type Script } from '../script.ts'
import { counted, verify, type TimedWorkload } from '../workload.ts'
import { turnWorkload } from './turn.ts'

const deltas = 20

/** Calls an agent so many times in its first reply, and answers in its second. */
const callsOf =
  (agent: string, count: number): Script =>
  (turn) => ({
    deltas,
    calls:
      turn > 0
        ? []
        : Array.from({ length: count }, (_, index) => ({
            callId: `0.${index}`,
            name: agent,
            input: { task: `task ${index}` },
          })),
  })

/** One reply that calls so many sub-agents, which run in parallel, a tool turn and an answer each. */
export function subAgentWorkload(count: number): TimedWorkload {
  return {
    type: 'timed',
    name: 'subAgents',
    title: `sub-agent, ${count} in one reply`,
    unit: 'µs',
    per: 'sub-agent',
    units: count,
    calls: 2 + 2 * count,
    batches: 5,
    async prepare(host) {
      const [seen, below] = [newSeen(), newSeen()]
      const child: AgentSpec = { name: 'child', seen: below, script: turnsOf(2, deltas), tools: [echoOf(below)] }
      const definition = host.define({
        name: 'parent',
        seen,
        script: callsOf('child', count),
        tools: [],
        agents: [child],
      })
      return async () => {
        const session = await definition.create({ onDelta: () => (seen.deltas += 1) })
        const ending = await session.prompt('go')
        verify({ ...ending, messages: session.messages() }, { how: 'done', turns: 2, messages: 3 + count })
        verify(counted(seen), { asked: 2, deltas: deltas * (2 + 2 * count), tools: 0 })
        verify(counted(below), { asked: 2 * count, deltas: 0, tools: count })
      }
    },
  }
}

/** A chain of so many agents below the first, each of which calls the next; the last has a tool turn and an answer. */
export function nestingWorkload(levels: number): TimedWorkload {
  const chains = 10
  return {
    type: 'timed',
    name: 'nesting',
    title: `level of sub-agents, in chains of ${levels}`,
    unit: 'µs',
    per: 'level',
    units: chains * levels,
    calls: chains * 2 * (levels + 1),
    batches: 5,
    warmUp: turnWorkload(100),
    async prepare(host) {
      const seen = newSeen()
      let spec: AgentSpec = { name: `level${levels}`, seen, script: turnsOf(2, deltas), tools: [echoOf(seen)] }
      for (let level = levels - 1; level >= 0; level -= 1)
        spec = { name: `level${level}`, seen, script: callsOf(spec.name, 1), tools: [], agents: [spec] }
      const definition = host.define(spec)
      return async () => {
        for (let chain = 0; chain < chains; chain += 1) {
          const session = await definition.create({ onDelta: () => (seen.deltas += 1) })
          verify({ ...(await session.prompt('go')) }, { how: 'done', turns: 2 })
        }
        const asked = chains * 2 * (levels + 1)
        verify(counted(seen), { asked, deltas: deltas * asked, tools: chains })
      }
    },
  }
}
