import { capturedRequests, checkRequest, renderTrunk } from '../../../src/sessions.ts'
import type { AgentOptions } from '../../../src/actors/define/defineAgent.ts'
import { createRuntime, defineAgent, memoryStore } from '../../../src/index.ts'
import { recordsOf } from '../../../test/journeys/cutLogs.ts'
import { calls, tool, withCode } from '../../../test/support/agentHarness.ts'
import { scriptedModel, type ScriptedReply } from '../../evaluation/src/testing/scriptedModel.ts'
import { assert, describe, type CaseContext } from '../../../test/support/suite.ts'

const long = 'long words '.repeat(80)
const look = tool('look', (input) => `${JSON.stringify(input)} ${long}`, { effects: 'none' })
const looks = (count: number) => Array.from({ length: count }, (_, turn) => calls(`t${turn}-`, ['look', { turn }]))

/** Runs an agent to the end of each prompt; returns its definition and its records. */
async function ran(
  context: CaseContext,
  options: Omit<AgentOptions, 'name' | 'model'>,
  replies: readonly ScriptedReply[],
  prompts: readonly string[] = ['go'],
) {
  const definition = defineAgent({ name: 'tester', model: scriptedModel(replies), ...options })
  const store = memoryStore()
  const runtime = await createRuntime({ store })
  context.cleanup(() => runtime.close())
  const agent = await runtime.spawn(definition, { id: 'a1' })
  for (const prompt of prompts) await agent.prompt(prompt).result
  return { definition, records: () => recordsOf(store, 'a1') }
}

const bytes = (value: unknown): string => JSON.stringify(value)

describe('a trunk that is rendered', (it) => {
  it('is byte for byte what was sent in each turn, brakes and turns that code prepared included', async (context) => {
    const options: Omit<AgentOptions, 'name' | 'model'> = {
      instructions: ({ turnIndex }) => `You are asked for turn ${turnIndex}.`,
      tools: [look],
      braking: { revert: true, prune: true, recall: true },
      beforeTurn: ({ turnIndex }) => (turnIndex === 2 ? { tools: ['look'] } : {}),
      captureTurnRequests: true,
    }
    const replies = [
      ...looks(3),
      calls('p', ['prun', { steps: ['n3'], memo: 'seen' }]),
      calls('r', ['revert_to_state', { category: 'failure', step: 'n5', summary: 'it led nowhere' }]),
      'done',
      'again',
    ]
    const { definition, records } = await ran(context, options, replies, ['go', 'and again'])
    const log = await records()
    const captured = [...capturedRequests(log)]
    assert.ok(captured.length >= 6)
    for (const { turnIndex, request, provenance } of captured) {
      const rendered = renderTrunk(log, definition, { turn: turnIndex })
      assert.is(bytes(rendered.request.messages), bytes(request.messages), `turn ${turnIndex}`)
      assert.is(bytes([rendered.request.system, rendered.request.tools]), bytes([request.system, request.tools]))
      assert.is(bytes(rendered.provenance), bytes(provenance))
    }
  })

  it('shows what a change would make of it, and changes nothing', async (context) => {
    const options = { tools: [look], braking: { fold: { keepSteps: 1 }, recall: true } }
    const { definition, records } = await ran(context, options, [...looks(5), 'done'])
    const log = await records()
    const render = (more: Parameters<typeof renderTrunk>[2]) => renderTrunk(log, definition, { turn: 5, ...more })
    const now = render({})
    const hidden = render({ hide: ['n3', 'n4'], memo: 'two looks' })
    assert.equal(
      hidden.applied.map(({ steps }) => steps),
      [[2, 4]],
    )
    assert.match(bytes(hidden.request.messages), 'two looks')
    const masked = render({ mask: ['n2'] })
    assert.is(masked.request.messages.length, now.request.messages.length)
    assert.ok(bytes(masked.request).length < bytes(now.request).length - 500)
    const folded = render({ fold: true })
    assert.ok(folded.request.messages.length < hidden.request.messages.length)
    for (const { request } of [now, hidden, masked, folded]) assert.equal(checkRequest(request), [])
    assert.is(bytes(render({})), bytes(now))
    assert.is(bytes(await records()), bytes(log))
  })

  it('refuses turns and changes that cannot be', async (context) => {
    const { definition, records } = await ran(context, { tools: [look] }, [...looks(2), 'done'])
    const log = await records()
    const wrong = (options: object, text: string): void => {
      assert.throws(
        () => renderTrunk(log, definition, options),
        (thrown: unknown) => withCode('INVALID_OPTION')(thrown) && (thrown as Error).message.includes(text),
      )
    }
    wrong({ turn: 9 }, 'there is no turn 9: the log has turns 0 to 2')
    wrong({ turn: -1 }, 'turn')
    wrong({ hide: ['n1'] }, 'n1 is a user message')
    wrong({ hide: ['n77'] }, 'n77 is not on the current trunk')
    wrong({ fold: true }, 'folding is off')
    wrong({ shows: true }, 'shows')
  })
})
