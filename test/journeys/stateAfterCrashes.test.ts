import { z } from 'zod'
import { createRuntime, defineAgent, memoryStore, type Agent, type LogRecord } from '../../src/index.ts'
import { forkSession } from '../../src/sessions.ts'
import { policyModel } from '../../packages/models/src/policyModel.ts'
import type { Conversation } from '../../src/conversation/tree/conversation.ts'
import { rebuildConversation } from '../../src/conversation/tree/rebuildConversation.ts'
import { readHistory } from '../../src/log/readHistory.ts'
import { tool } from '../support/agentHarness.ts'
import { assert, describe } from '../support/suite.ts'
import { recordsOf, runtimeOver } from './cutLogs.ts'

const Counts = z.object({ counts: z.record(z.string(), z.number()), notes: z.array(z.string()) })
type Counts = z.output<typeof Counts>

/** Adds twice to an item, with a pause between. */
const add = tool(
  'add',
  async (input, { state }) => {
    const { item } = input as { item: string }
    const once = (draft: Counts): void => {
      draft.counts[item] = (draft.counts[item] ?? 0) + 1
    }
    const first = state.of(Counts).update(once)
    await Promise.resolve()
    const second = state.of(Counts).update(once)
    return `${first.counts[item]}, ${second.counts[item]}`
  },
  { effects: 'idempotent' },
)

const counter = (turns: number) =>
  defineAgent({
    name: 'counter',
    state: { schema: Counts, initial: { counts: {}, notes: [] } },
    tools: [add],
    braking: { revert: true, graft: true, fold: true },
    model: policyModel(({ messages }) => {
      const said = messages.findLastIndex(
        ({ role, content }) => role === 'user' && JSON.stringify(content).includes('go'),
      )
      const turn = messages.slice(said).filter(({ role }) => role === 'assistant').length
      const prompt = messages.filter(({ role }) => role === 'user').length
      if (turn >= turns) return 'done'
      return { toolCalls: ['a', 'b'].map((name) => ({ name: 'add', input: { item: `${prompt}.${turn}${name}` } })) }
    }),
  })

/** The state as the log alone says it. */
async function rebuilt(store: Parameters<typeof readHistory>[0], id: string) {
  const { past, records } = await readHistory(store, id)
  return rebuildConversation(records, { past }).state
}

const treeOf = (agent: Pick<Agent, 'conversation'>) => (agent.conversation as Conversation).state!

describe('the state of a process that dies', (it) => {
  it('has every update once, wherever the log ends', async (context) => {
    const definition = counter(3)
    const store = memoryStore()
    const runtime = await createRuntime({ store })
    context.cleanup(() => runtime.close())
    const whole = await runtime.spawn(definition, { id: 'a1' })
    await whole.prompt('go').result
    const records: readonly LogRecord[] = await recordsOf(store, 'a1')
    const { appState } = whole
    assert.is(Object.keys(appState!.counts).length, 6)
    assert.ok(Object.values(appState!.counts).every((count) => count === 2))
    for (let length = 1; length <= records.length; length += 1) {
      const { runtime: next, store: cut } = await runtimeOver(context, { a1: records.slice(0, length) })
      const agent = await next.resume('a1', definition)
      await agent.settled()
      if (agent.conversation.head === null) await agent.prompt('go').result
      assert.equal(agent.appState, appState, `after ${length} of ${records.length} records`)
      assert.equal((await rebuilt(cut, 'a1'))!.keep(), treeOf(agent).keep())
      await next.close()
    }
  })

  for (const seed of [1, 2, 3, 4])
    it(`is what the log says after anything that happens to it (${seed})`, async (context) => {
      const definition = counter(1)
      const store = memoryStore()
      const runtime = await createRuntime({ store: { ...store, close: async () => {} } })
      context.cleanup(() => runtime.close())
      const agent = await runtime.spawn(definition, { id: 'a1' })
      const random = numbers(seed)
      const pick = (most: number): number => Math.floor(random() * most)
      const heard = new Map<string, () => void>()
      agent.subscribe(({ type }) => heard.get(type)?.())
      const until = (type: string, work: () => void): Promise<void> =>
        new Promise((resolve) => {
          heard.set(type, resolve)
          work()
        })
      await agent.prompt('go').result
      for (let happened = 0; happened < 25; happened += 1) {
        const kind = pick(6)
        if (kind <= 1) await agent.prompt('go').result
        else if (kind <= 3)
          await agent.updateState((draft) => {
            if (random() < 0.3) draft.notes.splice(pick(draft.notes.length), 1)
            else draft.notes.push(`note ${happened}`)
            for (const item of Object.keys(draft.counts).slice(0, pick(3))) draft.counts[item] = happened
          })
        else if (kind === 4) {
          const person = agent.conversation.trunk().findLast(({ message }) => message.role === 'user')!
          await until('revert.applied', () => agent.revert(`n${person.id}`, { category: 'failure', summary: 'no' }))
        } else {
          const [step] = agent.conversation
            .abandoned()
            .filter(({ id, stepId, message }) => id === stepId && message.role === 'assistant')
          if (step !== undefined) await until('graft.applied', () => agent.graft(`n${step.id}`))
        }
        const state = treeOf(agent)
        assert.equal(state.at(agent.conversation.head!), agent.appState)
        assert.ok(Counts.safeParse(agent.appState).success)
      }
      const live = treeOf(agent)
      assert.equal((await rebuilt(store, 'a1'))!.keep(), live.keep())
      const { records } = await readHistory(store, 'a1')
      const ends = agent.conversation.steps().map(({ endId }) => endId)
      for (const at of ends) {
        const { agentId } = await forkSession(store, 'a1', at, { id: `f${at}` })
        const [created] = (await readHistory(store, agentId)).records
        const seq = created?.type === 'agent.created' ? created.forkedFrom!.seq : 0
        const past = records.slice(0, seq)
        assert.equal((await rebuilt(store, agentId))?.value, rebuildConversation(past).state?.value, `a fork at n${at}`)
      }
      await agent.close()
      const again = await runtime.resume('a1', definition)
      assert.equal(treeOf(again).keep(), live.keep())
    })
})

describe('a fork', (it) => {
  it('begins with what was changed while its node was the newest', async ({ cleanup }) => {
    const definition = counter(1)
    const store = memoryStore()
    const runtime = await createRuntime({ store: { ...store, close: async () => {} } })
    cleanup(() => runtime.close())
    const agent = await runtime.spawn(definition, { id: 'a1' })
    await agent.prompt('go').result
    const head = agent.conversation.head!
    await agent.updateState((draft) => void draft.notes.push('mine'))
    const then = agent.appState
    await agent.prompt('go').result
    await agent.updateState((draft) => void draft.notes.push('later'))
    const { agentId } = await forkSession(store, 'a1', head)
    const fork = await runtime.resume(agentId, definition)
    assert.equal([fork.appState, fork.state], [then, 'idle'])
    await fork.updateState((draft) => void draft.notes.push('of the fork'))
    await fork.prompt('go').result
    assert.equal(fork.appState!.notes, ['mine', 'of the fork'])
    assert.equal(agent.appState!.notes, ['mine', 'later'])
    assert.equal((await rebuilt(store, agentId))!.keep(), treeOf(fork).keep())
    const [first] = agent.conversation.trunk()
    const early = await forkSession(store, 'a1', first!.id)
    assert.equal((await rebuilt(store, early.agentId))?.value, undefined)
  })
})

/** Numbers from 0 to 1, the same ones for a seed. */
function numbers(seed: number): () => number {
  let state = seed * 7_919
  return () => {
    state = (state * 48_271) % 2_147_483_647
    return state / 2_147_483_647
  }
}
