import { defineAgent } from '../../packages/define/src/defineAgent.ts'
import type { AgentOptions } from '../../src/actors/define/defineAgent.ts'
import { createRuntime, type Runtime } from '../../packages/bridge/src/createRuntime.ts'
import type { LogRecord } from '../../src/protocol/records.ts'
import type { Store } from '../../src/protocol/ports/store.ts'
import type { Agent } from '../../src/runtime/agents/agent.ts'
import { forkSession } from '../../packages/sessions/src/forkSession.ts'
import { readAll } from '../../packages/evaluation/src/testing/contractDemands.ts'
import { scriptedModel, type ScriptedReply } from '../../packages/evaluation/src/testing/scriptedModel.ts'
import { simulatedClock } from '../../packages/evaluation/src/testing/simulatedClock.ts'
import { calls, counter, gate, tool } from '../support/agentHarness.ts'
import type { CaseContext } from '../support/suite.ts'
import { heldCalls } from '../support/heldCalls.ts'

/** A process with a store of its own on the same data. */
interface Process {
  readonly runtime: Runtime
  readonly store: Store
}

/** Something agents do, over one process or several. `next`: another process. */
type Script = (next: () => Promise<Process>) => Promise<void>

const until = async (fits: () => boolean): Promise<void> => {
  while (!fits()) await new Promise((resolve) => setImmediate(resolve))
}
const held = (agent: Agent): Promise<void> => until(() => agent.pending().length > 0)
const rested = (agent: Agent): Promise<void> => until(() => agent.state.startsWith('idle'))

const say = tool('say', (input) => `said ${JSON.stringify(input)}`)
const fail = tool('fail', () => {
  throw new Error('it broke, \u0000 and "how"')
})
const pay = tool('pay', () => 'paid', { needsApproval: true, effects: 'irreversible' })

/** A tool that waits until it is told, and how often it was started. */
function waiting(effects: 'idempotent' | 'irreversible') {
  const isIn = gate()
  const isTold = gate<string>()
  const wait = tool(
    'wait',
    (_, { signal }) => {
      isIn.resolve()
      return Promise.race([
        isTold.promise,
        new Promise<string>((_resolve, reject) => signal.addEventListener('abort', () => reject(new Error('aborted')))),
      ])
    },
    { effects },
  )
  return { wait, isIn: isIn.promise, tell: isTold.resolve }
}

const define = (name: string, replies: readonly ScriptedReply[], rest: Partial<AgentOptions> = {}) =>
  defineAgent({ name, model: scriptedModel(replies), tools: [say, fail, pay], ...rest })

/** Scripts on whose logs all stores must agree, by the acts of agents. */
export const agentScripts: { readonly [what: string]: Script } = {
  'call tools, one of which fails, and answer': async (next) => {
    const { runtime } = await next()
    const agent = await runtime.spawn(
      define('a', [calls('c', ['say', { text: '漢 🙂 \ud800' }]), calls('d', 'fail'), 'done', 'and more']),
      { id: 'a', metadata: { user: 'u1', plan: 2 } },
    )
    await agent.prompt('go\u0000on').result
    await agent.prompt('more').result
  },

  'wait for people over the end of two processes': async (next) => {
    const first = await next()
    const agent = await first.runtime.spawn(define('a', [calls('c', 'pay', 'pay')]), { id: 'a' })
    const { result } = agent.prompt('pay')
    result.catch(() => {})
    await held(agent)
    await first.runtime.detach('a')
    const second = await next()
    await held(await second.runtime.resume('a', define('a', [])))
    await second.runtime.detach('a')
    const { runtime } = await next()
    const last = await runtime.resume('a', define('a', ['all paid']))
    await held(last)
    const [one, two] = heldCalls(last)
    last.decide(one!, 'approve')
    last.decide(two!, 'deny', { reason: 'once is enough' })
    await rested(last)
  },

  'are let go of in a call, and go on elsewhere': async (next) => {
    for (const effects of ['idempotent', 'irreversible'] as const) {
      const id = `a-${effects}`
      const { wait, isIn, tell } = waiting(effects)
      const first = await next()
      const agent = await first.runtime.spawn(define('a', [calls('c', 'wait')], { tools: [wait] }), { id })
      const { result } = agent.prompt('go')
      result.catch(() => {})
      await isIn
      await first.runtime.detach(id)
      tell('done')
      const { runtime } = await next()
      await rested(await runtime.resume(id, define('a', ['went on'], { tools: [wait] })))
    }
  },

  'have agents below them, and are closed': async (next) => {
    const { runtime } = await next()
    const leaf = define('leaf', [calls('c', 'say'), 'leaf done', 'leaf again'], { description: 'A leaf.' })
    const middle = define('middle', [{ toolCalls: [{ name: 'leaf', input: { task: 'deep' } }] }, 'middle done'], {
      description: 'Between.',
      agents: [leaf],
    })
    const root = define('root', [{ toolCalls: [{ name: 'middle', input: { task: 'do it' } }] }, 'root done'], {
      agents: [middle],
    })
    const agent = await runtime.spawn(root, { id: 'root' })
    await agent.prompt('go').result
    await runtime.close()
  },

  'are steered, revert and go on': async (next) => {
    const { wait, isIn, tell } = waiting('idempotent')
    const { runtime } = await next()
    const agent = await runtime.spawn(
      define('a', [calls('c', 'wait'), 'steered', 'followed', 'other'], { tools: [wait], braking: { revert: true } }),
      { id: 'a' },
    )
    const { result } = agent.prompt('go')
    await isIn
    agent.followUp('and then')
    agent.steer('rather so')
    tell('done')
    await result
    await rested(agent)
    agent.revert('n1', { category: 'tangent', summary: 'Another way is better.' })
    await agent.prompt('otherwise').result
    await agent.stop()
  },

  'are forked, and both go on': async (next) => {
    const { runtime, store } = await next()
    const agent = await runtime.spawn(define('a', [calls('c', 'say'), 'one', 'two']), { id: 'a' })
    await agent.prompt('go').result
    const clock = simulatedClock()
    await forkSession(store, 'a', 'n2', { id: 'b', clock })
    await agent.prompt('more').result
    const fork = await (await next()).runtime.resume('b', define('a', ['elsewhere', 'there']))
    await rested(fork)
    await fork.prompt('and you').result
  },
}

/** How processes get at the same data, one after the other. */
export interface Place {
  /** Another store on it. */
  open(): Store | Promise<Store>
  /** True if closing one ends the data, as in memory. */
  readonly isGoneWhenClosed?: boolean
}

/** Runs a script and gives all logs that it left. */
export async function logsOf(
  script: Script,
  { open, isGoneWhenClosed = false }: Place,
  { cleanup }: Pick<CaseContext, 'cleanup'>,
): Promise<{ readonly [agentId: string]: readonly LogRecord[] }> {
  const clock = simulatedClock()
  const newId = counter('q')
  const runtimes: Runtime[] = []
  await script(async () => {
    const store = await open()
    const runtime = await createRuntime({
      store: isGoneWhenClosed ? { ...store, close: async () => {} } : store,
      clock,
      newId,
    })
    cleanup(() => runtime.close())
    runtimes.push(runtime)
    return { runtime, store }
  })
  // An agent rests before its last record is stored.
  for (const runtime of runtimes) await runtime.close({ detach: true })
  const store = await open()
  if (!isGoneWhenClosed) cleanup(() => store.close())
  const logs: { [agentId: string]: readonly LogRecord[] } = {}
  for (const id of await store.list()) logs[id] = await readAll(store, id)
  return logs
}

/** A place in memory. */
export const inMemory = (store: Store): Place => ({ open: () => store, isGoneWhenClosed: true })
