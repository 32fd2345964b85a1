import { z } from 'zod'
import type { AgentContext } from '@agentclientprotocol/sdk'
import { policyModel } from '../../models/src/policyModel.ts'
import { scriptedModel } from '../../evaluation/src/testing/scriptedModel.ts'
import { defineAgent } from '../../define/src/defineAgent.ts'
import { defineTool } from '../../../src/actors/tools/defineTool.ts'
import type { Pending } from '../../../src/protocol/runs/pending.ts'
import { Permissions } from '../src/permissions.ts'
import type { DrivenAgent } from '../../bridge/src/server/drivenAgent.ts'
import { memoryStore } from '../../stores/src/memory/memoryStore.ts'
import { assert, describe } from '../../../test/support/suite.ts'
import { choose, openHouse, type Editor, silentModel } from './acpHarness.ts'

const refunds: number[] = []
const refund = defineTool({
  name: 'refund',
  description: 'Pay back.',
  input: z.object({ euros: z.number() }),
  needsApproval: true,
  run: ({ euros }) => `${refunds.push(euros)} paid`,
})

const asksOnce = (name = 'clerk') =>
  defineAgent({
    name,
    model: scriptedModel([{ toolCalls: [{ name: 'refund', input: { euros: 5 }, callId: 'c1' }] }, 'settled', 'and on']),
    tools: [refund],
  })

const endOf = (editor: Editor, toolCallId: string) =>
  editor.updates.findLast((update) => update.sessionUpdate === 'tool_call_update' && update.toolCallId === toolCallId)

describe('a permission over ACP', (it) => {
  it('lets the call run once it is given', async (context) => {
    refunds.length = 0
    const { connect } = await openHouse(context, [asksOnce()])
    const editor = await connect({ answer: () => choose('allow') })
    const { stopReason } = await editor.say(await editor.open(), 'x')
    assert.is(stopReason, 'end_turn')
    assert.equal(refunds, [5])
    const [question] = editor.asked
    assert.is(question?.toolCall.toolCallId, 'c1')
    assert.equal(question?.toolCall.rawInput, { euros: 5 })
    assert.equal(
      question?.options.map(({ kind }) => kind),
      ['allow_once', 'reject_once'],
    )
    const statuses = editor.updates.flatMap((update) => ('status' in update ? [update.status] : []))
    assert.equal(statuses, ['pending', 'in_progress', 'completed'])
  })

  for (const [what, answer] of [
    ['is refused', () => choose('reject')],
    ['is dismissed', () => ({ outcome: { outcome: 'cancelled' } }) as const],
    ['is answered with an option that was not offered', () => choose('whatever')],
    [
      'cannot be asked for',
      () => {
        throw new Error('no screen')
      },
    ],
  ] as const) {
    it(`keeps the call from running when it ${what}`, async (context) => {
      refunds.length = 0
      const { connect } = await openHouse(context, [asksOnce()])
      const editor = await connect({ answer })
      assert.is((await editor.say(await editor.open(), 'x')).stopReason, 'end_turn')
      assert.equal(refunds, [])
      assert.is((endOf(editor, 'c1') as { status: string }).status, 'failed')
      assert.is(editor.text(), 'settled')
    })
  }

  it('is given, or refused, for the session, where rules decide about calls', async (context) => {
    refunds.length = 0
    const calls = (id: string, euros: number) => ({ toolCalls: [{ name: 'refund', input: { euros }, callId: id }] })
    const ruled = defineAgent({
      name: 'clerk',
      model: scriptedModel([calls('c1', 5), calls('c2', 6), 'settled', calls('c3', 7), calls('c4', 8), 'and on']),
      tools: [refund],
      permissions: {},
    })
    const { connect, runtime } = await openHouse(context, [ruled])
    let choice = 'allowAll'
    const editor = await connect({ answer: () => choose(choice) })
    const sessionId = await editor.open()
    await editor.say(sessionId, 'x')
    assert.equal(refunds, [5, 6])
    assert.equal(
      editor.asked.map(({ options }) => options.map(({ kind, name }) => `${kind} ${name}`)),
      [['allow_once Allow', 'allow_always Allow refund', 'reject_once Reject', 'reject_always Reject refund']],
    )
    const agent = runtime.agent(sessionId)!
    agent.revoke(agent.permissions()!.grants[0]!.id)
    choice = 'rejectAll'
    await editor.say(sessionId, 'y')
    assert.equal(refunds, [5, 6])
    assert.is(editor.asked.length, 2)
    assert.equal(
      agent.permissions()!.grants.map(({ rule, decision }) => [rule, decision]),
      [['refund', 'deny']],
    )
  })

  it('follows the mode of the session, which the editor can change', async (context) => {
    refunds.length = 0
    const definition = defineAgent({
      name: 'clerk',
      model: scriptedModel([{ toolCalls: [{ name: 'refund', input: { euros: 5 }, callId: 'c1' }] }, 'settled']),
      tools: [refund],
      permissions: {},
    })
    const { connect } = await openHouse(context, [definition])
    const editor = await connect({ answer: () => choose('allow') })
    const opened = await editor.agent.request('session/new', { cwd: '/', mcpServers: [] })
    const { sessionId, modes } = opened
    assert.is(modes?.currentModeId, 'ask')
    assert.equal(
      modes?.availableModes.map(({ id }) => id),
      ['ask', 'edits', 'plan', 'auto', 'refuse'],
    )
    await editor.agent.request('session/set_mode', { sessionId, modeId: 'plan' })
    await editor.say(sessionId, 'x')
    assert.equal(refunds, [])
    assert.ok(
      editor.updates.some(
        (update) => update.sessionUpdate === 'current_mode_update' && update.currentModeId === 'plan',
      ),
    )
    await assert.rejects(
      editor.agent.request('session/set_mode', { sessionId, modeId: 'yolo' }),
      (thrown: unknown) => JSON.stringify(thrown).includes('yolo') || String(thrown).includes('yolo'),
    )
  })

  it('is asked for a call of a sub-agent, and its end is told', async (context) => {
    refunds.length = 0
    const clerk = asksOnce()
    const lead = defineAgent({
      name: 'lead',
      model: scriptedModel([{ toolCalls: [{ name: 'clerk', input: { task: 'refund' } }] }, 'all done']),
      agents: [clerk],
    })
    const { connect } = await openHouse(context, [lead, clerk])
    const editor = await connect({ answer: () => choose('allow') })
    const sessionId = await editor.open({ escapement: { definition: 'lead' } })
    assert.is((await editor.say(sessionId, 'x')).stopReason, 'end_turn')
    assert.equal(refunds, [5])
    const { toolCallId, title } = editor.asked[0]!.toolCall
    assert.is(title, `${sessionId}.1: refund`)
    assert.is((endOf(editor, toolCallId) as { status: string }).status, 'completed')
    assert.is(editor.text(), 'all done', 'what the sub-agent says is not the session’s')
  })

  it('is taken back when somebody else decides', async (context) => {
    refunds.length = 0
    const { connect, runtime } = await openHouse(context, [asksOnce()])
    const editor = await connect()
    const sessionId = await editor.open()
    const turn = editor.say(sessionId, 'x')
    await editor.question(1)
    runtime.agent(sessionId)!.decide('c1', 'approve')
    assert.is((await turn).stopReason, 'end_turn')
    assert.equal(refunds, [5])
    await editor.takenBack
  })

  it('is settled by a cancellation, and the prompt answers so', async (context) => {
    refunds.length = 0
    const { connect, runtime } = await openHouse(context, [asksOnce()])
    const editor = await connect()
    const sessionId = await editor.open()
    const turn = editor.say(sessionId, 'x')
    await editor.question(1)
    await editor.agent.notify('session/cancel', { sessionId })
    assert.is((await turn).stopReason, 'cancelled')
    assert.equal(runtime.agent(sessionId)!.approvals(), [])
    assert.is((endOf(editor, 'c1') as { status: string }).status, 'failed')
    assert.is((await editor.say(sessionId, 'y')).stopReason, 'end_turn')
    assert.equal(refunds, [])
  })

  it('is left undecided by a connection that closes, and asked again after a restart', async (context) => {
    refunds.length = 0
    const store = memoryStore()
    const clerk = asksOnce()
    const first = await openHouse(context, [clerk], { store })
    const editor = await first.connect()
    const sessionId = await editor.open()
    editor.say(sessionId, 'x').catch(() => {})
    await editor.question(1)
    editor.connection.close()
    const again = await first.connect()
    await again.agent.request('session/load', { sessionId, cwd: '/', mcpServers: [] })
    const question = await again.question(1)
    assert.is(question.toolCall.toolCallId, 'c1')
    const pending = again.updates.find(({ sessionUpdate }) => sessionUpdate === 'tool_call') as { status: string }
    assert.is(pending.status, 'pending')
    first.runtime.agent(sessionId)!.decide('c1', 'approve')
    await again.until((update) => update.sessionUpdate === 'agent_message_chunk')
    assert.equal(refunds, [5])
  })

  it('is not asked of somebody who may only look on', async (context) => {
    const { connect, runtime } = await openHouse(context, [asksOnce()])
    const editor = await connect()
    const sessionId = await editor.open()
    editor.say(sessionId, 'x').catch(() => {})
    await editor.question(1)
    const visitor = await connect({ grant: { role: 'observe' } })
    await visitor.agent.request('session/load', { sessionId, cwd: '/', mcpServers: [] })
    for (let round = 0; round < 3; round += 1) await new Promise((resolve) => setImmediate(resolve))
    runtime.agent(sessionId)!.decide('c1', 'deny')
    await visitor.until((update) => update.sessionUpdate === 'agent_message_chunk')
    assert.is(visitor.asked.length, 0)
  })

  it('is asked of nobody who may only talk, and given by an editor that loads the session of an agent at rest', async (context) => {
    refunds.length = 0
    const store = { ...memoryStore(), close: async () => {} }
    const first = await openHouse(context, [asksOnce()], { store })
    const owner = await first.connect()
    const sessionId = await owner.open()
    const customer = await first.connect({ grant: { role: 'talk' } })
    await customer.agent.request('session/load', { sessionId, cwd: '/', mcpServers: [] })
    const said = owner.say(sessionId, 'x').catch(() => {})
    await owner.question(1)
    await customer.until((update) => update.sessionUpdate === 'tool_call')
    await customer.agent.request('session/list', {})
    assert.equal(customer.asked, [])
    assert.equal(
      customer.updates.flatMap((update) => ('rawInput' in update ? [update.rawInput] : [])),
      [{}],
    )
    await first.runtime.close()
    await said
    const second = await openHouse(context, [asksOnce()], { store })
    const editor = await second.connect({ answer: () => choose('allow') })
    await editor.agent.request('session/load', { sessionId, cwd: '/', mcpServers: [] })
    assert.is(second.runtime.agent(sessionId), undefined, 'reading wakes nothing')
    await editor.until((update) => update.sessionUpdate === 'tool_call_update' && update.status === 'completed')
    assert.equal(refunds, [5])
  })
})

describe('a cancellation over ACP', (it) => {
  it('stops a reply in the middle, and the session goes on', async (context) => {
    const begun = Promise.withResolvers<void>()
    let requests = 0
    const model = policyModel(async () => {
      requests += 1
      if (requests > 1) return 'here again'
      begun.resolve()
      return await new Promise(() => {})
    })
    const { connect } = await openHouse(context, [defineAgent({ name: 'a', model })])
    const editor = await connect()
    const sessionId = await editor.open()
    const turn = editor.say(sessionId, 'x')
    await begun.promise
    await editor.agent.notify('session/cancel', { sessionId })
    assert.is((await turn).stopReason, 'cancelled')
    assert.is((await editor.say(sessionId, 'y')).stopReason, 'end_turn')
    assert.is(editor.text(), 'here again')
  })

  it('ends a prompt that waits for a run of somebody else', async (context) => {
    const { model, begun } = silentModel()
    const { connect, runtime } = await openHouse(context, [defineAgent({ name: 'a', model })])
    const editor = await connect()
    const sessionId = await editor.open()
    const other = runtime.agent(sessionId)!.prompt('mine')
    await begun.promise
    const turn = editor.say(sessionId, 'theirs')
    await editor.agent.request('session/list', {})
    await editor.agent.notify('session/cancel', { sessionId })
    assert.is((await turn).stopReason, 'cancelled')
    assert.is((await other.result).stopReason, 'aborted')
    assert.is(runtime.agent(sessionId)!.state, 'idle')
  })

  it('comes with the cancellation of the request too', async (context) => {
    const { model, begun } = silentModel()
    const { connect } = await openHouse(context, [defineAgent({ name: 'a', model })])
    const editor = await connect()
    const sessionId = await editor.open()
    const stop = new AbortController()
    const turn = editor.agent.request(
      'session/prompt',
      { sessionId, prompt: [{ type: 'text', text: 'x' }] },
      { cancellationSignal: stop.signal },
    )
    await begun.promise
    stop.abort()
    assert.is((await turn).stopReason, 'cancelled')
  })

  it('does nothing for a session that is not open', async (context) => {
    const { connect } = await openHouse(context, [asksOnce()])
    const editor = await connect()
    await editor.agent.notify('session/cancel', { sessionId: 'nobody' })
    assert.ok(await editor.open())
  })
})

describe('what an editor is asked', (it) => {
  /** An editor that answers when it is told to, and what the agent hears. */
  function asking() {
    const decided: string[] = []
    const agent = { id: 'a', decide: (key: string, decision: string) => void decided.push(`${key} ${decision}`) }
    const requests: { readonly signal: AbortSignal; readonly answer: PromiseWithResolvers<unknown> }[] = []
    const client = {
      request: (_method: string, _params: object, { cancellationSignal }: { cancellationSignal: AbortSignal }) => {
        const answer = Promise.withResolvers<unknown>()
        requests.push({ signal: cancellationSignal, answer })
        return answer.promise
      },
    } as unknown as AgentContext
    const connection = { isClosed: false }
    const permissions = new Permissions({
      mayAddRules: true,
      sessionId: 'a',
      client,
      hasForms: false,
      isClosed: () => connection.isClosed,
      flushed: () => Promise.resolve(),
      driven: () => Promise.resolve(agent as unknown as DrivenAgent),
    })
    const ask = async (key: string) => {
      const pending = { kind: 'approval', key, agentId: 'a', callId: key, name: 'refund', input: {} } as Pending
      const asked = permissions.ask(agent as unknown as DrivenAgent, pending)
      await Promise.resolve()
      await Promise.resolve()
      return { asked, request: requests.at(-1)! }
    }
    return { permissions, decided, requests, connection, ask }
  }

  it('counts only while the connection is open', async () => {
    const { decided, connection, ask } = asking()
    const first = await ask('k1')
    first.request.answer.resolve(choose('allow'))
    await first.asked
    const second = await ask('k2')
    connection.isClosed = true
    second.request.answer.resolve(choose('allow'))
    await second.asked
    assert.equal(decided, ['k1 approve'])
  })

  it('is asked no more once its call has ended, nor what its tool asks, and nothing of other calls is given up', async () => {
    const { permissions, decided, requests, ask } = asking()
    const asked = []
    for (const key of ['a/t0/tool/c1', 'a/t0/tool/c1/q1', 'a/t0/tool/c1/q2', 'a/t0/tool/c10', 'a/t0/tool/c2/q1'])
      asked.push(await ask(key))
    permissions.settle({ key: 'a/t0/tool/c1' })
    assert.equal(
      requests.map(({ signal }) => signal.aborted),
      [true, true, true, false, false],
    )
    for (const { request } of asked) request.answer.resolve(choose('allow'))
    await Promise.all(asked.map((one) => one.asked))
    assert.equal(decided, ['a/t0/tool/c10 approve', 'a/t0/tool/c2/q1 approve'])
  })

  it('is asked no more once its session is closed', async () => {
    const { permissions, decided, requests, ask } = asking()
    const asked = [await ask('k1'), await ask('k2')]
    permissions.close()
    assert.ok(requests.every(({ signal }) => signal.aborted))
    for (const { request } of asked) request.answer.resolve(choose('allow'))
    await Promise.all(asked.map((one) => one.asked))
    assert.equal(decided, [])
  })
})
