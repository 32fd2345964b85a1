import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { defineAgent } from '../../src/actors/define/defineAgent.ts'
import { defineTool } from '../../src/actors/tools/defineTool.ts'
import { fallback } from '../../packages/models/src/fallback.ts'
import { policyModel } from '../../packages/models/src/policyModel.ts'
import { createRuntime } from '../../packages/bridge/src/createRuntime.ts'
import type { Agent } from '../../src/runtime/agents/agent.ts'
import type { Model } from '../../src/protocol/ports/model.ts'
import type { LogRecord } from '../../src/protocol/records.ts'
import type { Store } from '../../src/protocol/ports/store.ts'
import { sqliteStore } from '../../packages/sqlite/src/sqliteStore.ts'
import { memoryStore } from '../../packages/stores/src/memory/memoryStore.ts'
import { scriptedModel } from '../../packages/evaluation/src/testing/scriptedModel.ts'
import { z } from 'zod'
import { calls, delta, quiet, startAgent, tool, type HarnessOptions } from '../support/agentHarness.ts'
import { made } from '../braking/policyLookers.ts'
import { losingStore } from '../support/losingStore.ts'
import { assert, describe, type CaseContext } from '../support/suite.ts'

/** An effect, and the record after which the lease is over. */
interface Effect {
  readonly last: LogRecord['type'] | ((record: LogRecord) => boolean)
  /** Options of the agent; `begun` notes the effect. */
  readonly agent: (begun: () => void) => HarnessOptions
  readonly does?: (agent: Agent) => unknown
}

const noted =
  <T>(begun: () => void, value: T) =>
  (): T => {
    begun()
    return value
  }

/** A model whose first answers are a script's, and which notes being asked after that. */
const notedAfter = (count: number, begun: () => void, ...script: Parameters<typeof scriptedModel>[0]): Model => {
  const model = scriptedModel([...script, 'late'])
  let asked = 0
  return {
    id: model.id,
    stream: (request, options) => {
      asked += 1
      if (asked > count) begun()
      return model.stream(request, options)
    },
  }
}

/** How an agent that is gone takes a prompt. */
function refused(agent: Agent): { readonly error: unknown } {
  try {
    agent.prompt('go')
    return { error: undefined }
  } catch (error) {
    return { error }
  }
}

const look = tool('look', () => 'seen '.repeat(60), { effects: 'none' })
const looks = [calls('a', 'look'), calls('b', 'look'), calls('c', 'look'), 'done'] as const

const effects: { readonly [name: string]: Effect } = {
  'a tool': {
    last: 'tool.start',
    agent: (begun) => ({ tools: [tool('pay', noted(begun, 'paid'))], replies: [calls('p', 'pay'), 'done'] }),
  },
  'a model call, the first': { last: 'turn.start', agent: (begun) => ({ model: notedAfter(0, begun) }) },
  'a model call after a tool': {
    last: (record) => record.type === 'turn.start' && record.turnIndex === 1,
    agent: (begun) => ({ tools: [look], model: notedAfter(1, begun, calls('a', 'look')) }),
  },
  'a guard of the input': {
    last: 'turn.start',
    agent: (begun) => ({ guards: { input: [noted(begun, { ok: true as const })] }, replies: ['hello'] }),
  },
  'the preparation of a turn': {
    last: 'turn.start',
    agent: (begun) => ({ beforeTurn: noted(begun, undefined), replies: ['hello'] }),
  },
  beforeTool: {
    last: 'reply.end',
    agent: (begun) => ({
      beforeTool: noted(begun, { allow: true as const }),
      tools: [look],
      replies: [calls('a', 'look'), 'done'],
    }),
  },
  'a sub-agent': {
    last: 'tool.start',
    agent: (begun) => ({
      agents: [defineAgent({ name: 'helper', description: 'Helps.', model: notedAfter(0, begun) })],
      replies: [calls('h', ['helper', { task: 'help' }]), 'done'],
    }),
  },
  'a sub-agent that code spawns': {
    last: 'child.spawned',
    agent: () => ({}),
    does: (agent) =>
      agent.spawn(defineAgent({ name: 'helper', description: 'Helps.', model: policyModel(() => 'helped') })).then(
        () => assert.unreachable('it was spawned'),
        () => refused(agent),
      ),
  },
  'a revert that undoes': {
    last: 'revert.applied',
    agent: (begun) => ({
      tools: [
        defineTool({
          effects: 'reversible',
          name: 'put',
          description: 'Puts.',
          input: z.looseObject({}),
          run: (_, { keep }) => keep({ was: 1 }),
          undo: async () => begun(),
        }),
      ],
      braking: { revert: { undo: true } },
      replies: [
        calls('p', 'put'),
        calls('r', ['revert_to_state', { category: 'failure', step: 'n1', summary: 'wrong', undo: true }]),
        'done',
      ],
    }),
  },
  'a compaction': {
    last: 'compaction.start',
    agent: (begun) => ({
      tools: [look],
      compaction: {
        strategy: {
          name: 'noted',
          summarise: async () => {
            begun()
            return { text: 'short' }
          },
        },
      },
      replies: [...Array.from({ length: 8 }, (_, at) => calls(`t${at}-`, ['look', { at }])), 'the end', 'more'],
    }),
    does: async (agent) => {
      await agent.prompt('go').result
      agent.compact()
      await quiet()
      return refused(agent)
    },
  },
  'a policy that decides': {
    last: 'policy.start',
    agent: (begun) => ({
      tools: [look],
      replies: looks,
      braking: {
        policies: [made({ decide: { name: 'noted', decide: noted(begun, null) } })],
      },
    }),
  },
}

/** How what was asked of an agent ended that lost its log. */
const askGo = (agent: Agent): unknown => agent.prompt('go').result

async function startLosing(
  context: Pick<CaseContext, 'cleanup'>,
  { last, agent }: Effect,
): Promise<{
  readonly agent: Agent
  readonly store: ReturnType<typeof losingStore>
  readonly begun: { count: number }
}> {
  const begun = { count: 0 }
  const store = losingStore((record) => (typeof last === 'function' ? last(record) : record.type === last))
  const started = await startAgent(context, { store, check: false, ...agent(() => (begun.count += 1)) })
  return { agent: started.agent, store, begun }
}

describe('an effect whose record was the last before the lease was over', (it) => {
  for (const [name, effect] of Object.entries(effects))
    it(`is not begun: ${name}`, async (context) => {
      const { agent, store, begun } = await startLosing(context, effect)
      const { error } = (await (effect.does ?? askGo)(agent)) as { readonly error?: { readonly code: string } }
      await quiet()
      assert.equal([begun.count, error?.code, store.late], [0, 'STORE_LEASE_LOST', []])
    })
})

describe('an effect within another one', (it) => {
  it('is not begun once the lease is over: afterTool', async (context) => {
    const store = losingStore()
    let begun = 0
    const { agent } = await startAgent(context, {
      store,
      check: false,
      tools: [tool('look', () => store.lose())],
      afterTool: () => void (begun += 1),
      replies: [calls('a', 'look'), 'done'],
    })
    assert.is((await agent.prompt('go').result).error?.code, 'STORE_LEASE_LOST')
    await quiet()
    assert.equal([begun, store.late], [0, []])
  })

  it('is not begun once the lease is over: the next of several models, also behind limits', async ({ cleanup }) => {
    for (const limits of [{}, { models: [{ concurrency: 1 }] }]) {
      const store = losingStore()
      let begun = 0
      const breaks: Model = {
        id: 'test:first',
        stream: async function* () {
          yield delta('half')
          store.lose()
          yield { type: 'error', error: { kind: 'network', message: 'gone' } }
        },
      }
      const model = fallback([breaks, notedAfter(0, () => (begun += 1))])
      const runtime = await createRuntime({ store, ...limits })
      cleanup(() => runtime.close())
      const agent = await runtime.spawn(defineAgent({ name: 'talker', model }), { id: 'a1' })
      assert.is((await agent.prompt('go').result).error?.code, 'STORE_LEASE_LOST')
      await quiet()
      assert.is(begun, 0)
    }
  })
})

async function recordsIn(store: Store): Promise<LogRecord[]> {
  const all: LogRecord[] = []
  for await (const record of store.read('a1')) all.push(record)
  return all
}

/** Ways in which two runtimes share a store object, or a file. */
const shared: { readonly [name: string]: (dir: string) => () => Store } = {
  'SQLite file': (dir) => () => sqliteStore(join(dir, 'agents.db')),
  'store in memory': () => {
    const store = memoryStore()
    return () => store
  },
}

describe('a log that another writer takes between a record and its effect', (it) => {
  for (const [name, make] of Object.entries(shared))
    it(`is asked for right before the effect, in a ${name}`, async ({ cleanup }) => {
      const dir = await mkdtemp(join(tmpdir(), 'escapement-lost-'))
      cleanup(() => rm(dir, { recursive: true, force: true }))
      const open = make(dir)
      const [mine, other] = [open(), open()]
      cleanup(async () => void (await Promise.all([mine.close(), other.close()])))
      const taken = Promise.withResolvers<void>()
      let ran = 0
      // Nobody is told: its process was frozen. The answer to the append comes when the log has been taken.
      const frozen: Store = {
        read: (...given) => mine.read(...given),
        list: () => mine.list(),
        holds: (...given) => mine.holds!(...given),
        open: async (agentId: string) => {
          const { lastSeq, epoch } = await mine.open(agentId)
          return { agentId, lastSeq, epoch: epoch!, repairedBytes: 0, release: async () => {} }
        },
        append: async (agentId: string, records: readonly LogRecord[], epoch?: number) => {
          await mine.append(agentId, records, epoch)
          if (!records.some(({ type }) => type === 'tool.start')) return
          const lease = await other.open(agentId, { takeOver: true })
          await lease.release()
          taken.resolve()
        },
        close: async () => {},
      }
      const pay = tool('pay', () => void (ran += 1))
      const runtime = await createRuntime({ store: frozen })
      cleanup(() => runtime.close())
      const agent = await runtime.spawn(
        defineAgent({ name: 'payer', tools: [pay], model: scriptedModel([calls('p', 'pay'), 'done']) }),
        { id: 'a1' },
      )
      const result = agent.prompt('go').result
      await taken.promise
      assert.is((await result).error?.code, 'STORE_LEASE_LOST')
      assert.is(ran, 0)
      assert.is((await recordsIn(other)).at(-1)?.type, 'tool.start')
    })

  it('is said by its own store to be held, and not to be once it was taken', async ({ cleanup }) => {
    const dir = await mkdtemp(join(tmpdir(), 'escapement-lost-'))
    cleanup(() => rm(dir, { recursive: true, force: true }))
    const [mine, other] = [sqliteStore(join(dir, 'agents.db')), sqliteStore(join(dir, 'agents.db'))]
    cleanup(async () => void (await Promise.all([mine.close(), other.close()])))
    const { epoch } = await mine.open('a1')
    assert.equal([mine.holds?.(), mine.holds?.('a1', epoch), mine.holds?.('a1', 99)], [true, true, false])
    await other.open('a1', { takeOver: true })
    assert.is(mine.holds?.('a1', epoch), false)
  })
})
