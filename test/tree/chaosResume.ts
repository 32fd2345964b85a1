import { messageOf } from '../../src/protocol/errors.ts'
import type { LogRecord } from '../../src/protocol/records.ts'
import type { Store } from '../../src/protocol/ports/store.ts'
import { createRuntime } from '../../packages/bridge/src/createRuntime.ts'
import { simulatedClock } from '../../packages/evaluation/src/testing/simulatedClock.ts'
import { counter } from '../support/agentHarness.ts'
import { checkLog } from '../support/journeyRules.ts'
import { ChaosAgents } from './chaosAgents.ts'
import type { ChaosPlan } from './chaosPlan.ts'
import { chaosStore } from './chaosStore.ts'
import { Dice } from './dice.ts'
import { settlesIn } from './settlesIn.ts'

export type Logs = ReadonlyMap<string, readonly LogRecord[]>

/** Logs that a store holds now, as the next process would find them. */
export async function logsOf(store: Store): Promise<Map<string, LogRecord[]>> {
  const logs = new Map<string, LogRecord[]>()
  for (const id of await store.list()) {
    const records: LogRecord[] = []
    for await (const record of store.read(id)) records.push(record)
    logs.set(id, records)
  }
  return logs
}

/** Goes on with a tree from logs that a process left behind: it comes to rest, with nothing lost and nothing left open. In words. */
export async function resumeTree(logs: Logs, rootId: string, plan: ChaosPlan): Promise<string[]> {
  const root = logs.get(rootId)
  if (root === undefined || root.at(-1)?.type === 'agent.stopped') return []
  const clock = simulatedClock(1_800_000_000_000)
  const dice = new Dice(root.length)
  const store = chaosStore(dice, plan.storeDelay)
  for (const [id, records] of logs) {
    const lease = await store.open(id)
    await store.append(id, records)
    await lease.release()
  }
  const agents = new ChaosAgents(plan, dice, clock)
  agents.isCalm = true
  const runtime = await createRuntime({ clock, store, random: dice.roll, newId: counter('again') })
  const faults: string[] = []
  try {
    const agent = await runtime.resume(rootId, agents.root)
    for (let left = 200; left > 0 && !isAtRest(agent.state, agent.pause?.type); left -= 1) {
      for (const { key } of agent.approvals()) agent.decide(key, 'approve')
      if (agent.pause?.type === 'store') agent.resume()
      await clock.advance(100)
    }
    if (!isAtRest(agent.state, agent.pause?.type))
      faults.push(`it does not come to rest: ${JSON.stringify([agent.tree(), agent.pause, agent.approvals()])}`)
  } catch (thrown) {
    faults.push(messageOf(thrown))
  }
  if (!(await settlesIn(clock, runtime.close()))) faults.push('runtime.close() does not come to its end')
  agents.releaseDeaf()
  if (clock.pending > 0) faults.push(`${clock.pending} timers are left`)
  if (store.openLogs.size > 0) faults.push(`still open: ${[...store.openLogs].join(', ')}`)
  const after = await logsOf(store)
  for (const [id, records] of after) {
    const before = logs.get(id) ?? []
    if (before.some((record, index) => record !== records[index]))
      faults.push(`${id}: its log does not go on from what was there`)
    faults.push(...checkLog(records, { isWhole: id === rootId }).map((fault) => `${id}: ${fault}`))
  }
  return [...faults, ...agents.faults].map((fault) => `resumed: ${fault}`)
}

const isAtRest = (state: string, pause: string | undefined): boolean =>
  state === 'idle' || (state === 'paused' && pause === 'limit')
