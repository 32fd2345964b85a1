import { z } from 'zod'
import { defineAgent } from '../../src/actors/define/defineAgent.ts'
import { policyModel } from '../../packages/models/src/policyModel.ts'
import { defineTool, type ToolContext } from '../../src/actors/tools/defineTool.ts'
import { createRuntime } from '../../packages/bridge/src/createRuntime.ts'
import { retry } from '../../packages/page/src/inspector/model/agent/retry.ts'
import { textOf } from '../../src/protocol/text/messageText.ts'
import type { ModelRequest } from '../../src/protocol/ports/model.ts'
import type { LogRecord } from '../../src/protocol/records.ts'
import type { Agent } from '../../src/runtime/agents/agent.ts'
import { forkSession } from '../../packages/sessions/src/forkSession.ts'
import { memoryStore } from '../../packages/stores/src/memory/memoryStore.ts'
import { idleAgents, idleMs } from '../runtime/idleAgents.ts'
import { serveAgents } from '../../packages/bridge/test/server/bridgeHarness.ts'
import { calls, quiet, startAgent, tool, withCode } from '../support/agentHarness.ts'
import { assert, describe } from '../support/suite.ts'
import { recordsOf, runtimeOver } from './cutLogs.ts'

const refused = { error: { kind: 'auth', message: 'the key is wrong' } } as const
const image = { type: 'image', mimeType: 'image/png', data: 'AAAA' } as const
const text = (said: string) => ({ type: 'text', text: said }) as const

const usersIn = (messages: ModelRequest['messages']): string[] =>
  messages.flatMap((message) => (message.role === 'user' ? [textOf(message.content)] : []))
const usersOf = (agent: Agent): string[] =>
  agent.conversation.trunk().flatMap(({ message }) => (message.role === 'user' ? [textOf(message.content)] : []))

/** A model that fails as long as it is told to, and looks once before it answers. */
const moody = () => {
  const mood = { isBad: true, failed: 0 }
  const model = policyModel(({ messages }) => {
    if (!messages.some(({ role }) => role === 'toolResult')) return { toolCalls: [{ name: 'look', input: {} }] }
    if (mood.isBad) {
      mood.failed += 1
      throw new Error('gone')
    }
    return 'done'
  })
  const definition = defineAgent({ name: 'tester', model, tools: [tool('look', () => 'seen')], retry: { attempts: 1 } })
  return { mood, definition }
}

describe('a run that failed, gone on with', (it) => {
  it('asks the model the same again, and nothing stands in the conversation twice', async (context) => {
    const { agent, script, ofType } = await startAgent(context, { replies: [refused, refused, 'fine'] })
    assert.is(agent.hasFailed, false)
    assert.is((await agent.prompt([text('What is it?'), image]).result).stopReason, 'error')
    assert.is(agent.hasFailed, true)
    assert.is((await agent.resume().result).stopReason, 'error')
    const run = agent.resume()
    const { stopReason, text: answer } = await run.result
    assert.equal([stopReason, answer, agent.hasFailed], ['stop', 'fine', false])
    assert.equal(script.requests[2]!.messages, script.requests[0]!.messages)
    assert.equal(usersOf(agent), ['What is it?'])
    assert.equal(
      ofType('run.start').map(({ cause, resumedFrom }) => [cause, resumedFrom]),
      [
        ['prompt', undefined],
        ['resume', 'a1/r0'],
        ['resume', 'a1/r1'],
      ],
    )
    assert.throws(() => agent.resume(), withCode('NOT_PAUSED', 'has not failed'))
  })

  it('keeps what it had done, its context and what was said into it', async (context) => {
    const looks: string[] = []
    const { agent, script } = await startAgent(context, {
      tools: [tool('look', () => (looks.push('look'), agent.steer('but quickly'), 'seen'))],
      replies: [calls('a', 'look'), refused, 'fine'],
    })
    await agent.prompt('Look', { context: [{ content: 'A memory' }] }).result
    assert.is((await agent.resume().result).text, 'fine')
    assert.equal(looks, ['look'])
    assert.equal(script.requests[2]!.messages, script.requests[1]!.messages)
    assert.equal(
      usersIn(script.requests[2]!.messages)
        .join('\n')
        .match(/A memory|but quickly|Look/g),
      ['A memory', 'Look', 'but quickly'],
    )
  })

  it('is over once something else was said', async (context) => {
    const { agent } = await startAgent(context, { replies: [refused, 'fine'] })
    await agent.prompt('One').result
    await agent.prompt('Two').result
    assert.is(agent.hasFailed, false)
    assert.throws(() => agent.resume(), withCode('NOT_PAUSED', 'idle'))
  })

  it('goes on from where it was taken back to', async (context) => {
    const { agent, script, until } = await startAgent(context, {
      braking: { revert: true },
      tools: [tool('look', () => 'seen')],
      replies: [calls('a', 'look'), refused, 'fine'],
    })
    await agent.prompt('Look').result
    const reverted = until(({ type }) => type === 'revert.applied')
    agent.revert('n1', { category: 'failure', summary: 'Do not look.' })
    await reverted
    await quiet()
    assert.is((await agent.resume().result).text, 'fine')
    assert.equal(usersOf(agent), ['Look'])
    const { messages } = script.requests.at(-1)!
    assert.not.ok(messages.some(({ role }) => role === 'toolResult'))
    assert.match(usersIn(messages).join('\n'), /^Look\n[\s\S]*Do not look/)
  })

  it('is gone on with after a restart, in whatever moment the process died', { timeoutMs: 20_000 }, async (context) => {
    const { mood, definition } = moody()
    const whole = memoryStore()
    const runtime = await createRuntime({ store: whole })
    const agent = await runtime.spawn(definition, { id: 'a1' })
    await agent.prompt('Do it').result
    agent.resume()
    while (mood.failed < 2) await quiet()
    await quiet()
    mood.isBad = false
    assert.is((await agent.resume().result).text, 'done')
    await runtime.close()
    const log: LogRecord[] = await recordsOf(whole, 'a1')
    assert.is(log.filter(({ type }) => type === 'run.start').length, 3)
    const said = log.findIndex(({ type }) => type === 'message.added')
    for (let length = said + 1; length <= log.length; length += 1) {
      const { runtime: other } = await runtimeOver(context, { a1: log.slice(0, length) })
      const again = await other.resume('a1', definition)
      // A run that was cut off goes on by itself.
      while (again.state !== 'idle') await quiet()
      if (again.hasFailed) await again.resume().result
      assert.equal([length, usersOf(again)], [length, ['Do it']])
      const last = again.conversation.trunk().at(-1)!.message
      assert.equal([length, last.role, textOf(last.content)], [length, 'assistant', 'done'])
      assert.throws(() => again.resume(), withCode('NOT_PAUSED'))
      await other.close()
    }
  })

  it('goes on in a fork of the session', async (context) => {
    const { mood, definition } = moody()
    const whole = memoryStore()
    const runtime = await createRuntime({ store: whole })
    context.cleanup(() => runtime.close())
    const agent = await runtime.spawn(definition, { id: 'a1' })
    await agent.prompt('Do it').result
    await agent.durable()
    const newest = agent.conversation.trunk().at(-1)!
    const { agentId } = await forkSession(whole, 'a1', `n${newest.id}`)
    mood.isBad = false
    const fork = await runtime.resume(agentId, definition, { continue: false })
    assert.is((await fork.resume().result).text, 'done')
    assert.equal(usersOf(fork), ['Do it'])
    // The other waits as it did.
    assert.is(agent.hasFailed, true)
  })

  it('goes on in an agent that was unloaded, unless it was asked something since', async (context) => {
    let isBad = true
    const model = policyModel(({ messages }) => {
      if (isBad) throw new Error('gone')
      return usersIn(messages).join(', ')
    })
    const { spawn, clock } = await idleAgents(context)
    const options = { model, retry: { attempts: 1 } }
    const [agent, other] = [await spawn('a1', options), await spawn('a2', options)]
    for (const each of [agent, other]) await each.prompt('one').result
    await clock.advance(2 * idleMs)
    assert.equal([agent.isLoaded, other.isLoaded, agent.hasFailed], [false, false, true])
    isBad = false
    const run = agent.resume({ limits: { turns: 5 } })
    assert.throws(() => agent.resume(), withCode('NOT_PAUSED'))
    assert.equal([(await run.result).text, agent.hasFailed], ['one', false])
    const prompted = other.prompt('two')
    assert.throws(() => other.resume(), withCode('NOT_PAUSED'))
    assert.is((await prompted.result).text, 'onetwo')
  })

  it('has the deps that it had, unless it is given others', async (context) => {
    const seen: unknown[] = []
    let isBad = true
    const look = defineTool({
      name: 'look',
      description: 'Looks.',
      input: z.object({}),
      run: (_, { deps }: ToolContext<string>) => (seen.push(deps), 'seen'),
    })
    const model = policyModel(({ messages }) => {
      if (isBad) throw new Error('gone')
      return messages.at(-1)!.role === 'toolResult' ? 'done' : { toolCalls: [{ name: 'look', input: {} }] }
    })
    const definition = defineAgent({ name: 'd', model, tools: [look], deps: z.string(), retry: { attempts: 1 } })
    const runtime = await createRuntime()
    context.cleanup(() => runtime.close())
    const agent = await runtime.spawn(definition)
    const tryOnce = async (isBadNow: boolean, deps?: string): Promise<void> => {
      isBad = isBadNow
      await agent.resume(deps === undefined ? {} : { deps }).result
    }
    await agent.prompt('one', { deps: 'first' }).result
    await tryOnce(true)
    await tryOnce(false)
    isBad = true
    await agent.prompt('two', { deps: 'second' }).result
    await tryOnce(false, 'third')
    assert.equal(seen, ['first', 'third'])
  })

  it('works from afar, for an agent whose sub-agent had failed too', async (context) => {
    let isBroken = true
    const worker = defineAgent({
      name: 'worker',
      description: 'works',
      retry: { attempts: 1 },
      model: policyModel(() => {
        if (isBroken) throw new Error('no work')
        return 'done'
      }),
    })
    const boss = defineAgent({
      name: 'boss',
      agents: [worker],
      retry: { attempts: 1 },
      model: policyModel(({ messages }) => {
        const last = messages.at(-1)!
        if (last.role === 'user') return { toolCalls: [{ name: 'worker', input: { task: 'x' } }] }
        if (isBroken) throw new Error('no answer')
        return 'fine'
      }),
    })
    const serving = await serveAgents(context, [boss])
    const agent = await serving.connect().spawn('boss', { id: 'b' })
    assert.is((await agent.prompt('Go').result).stopReason, 'error')
    isBroken = false
    const { stopReason, text: answer } = await agent.resume().result
    assert.equal([stopReason, answer], ['stop', 'fine'])
    assert.is((await agent.resume().result).error?.code, 'NOT_PAUSED')
    const { nodes } = await agent.conversation()
    assert.is(nodes.filter(({ message }) => message.role === 'user').length, 1)
  })

  it('is what a retry on the page does; what has not failed is said again, as the word of whoever said it', async (context) => {
    let isBad = true
    const model = policyModel(() => {
      if (isBad) throw new Error('gone')
      return 'kept'
    })
    const serving = await serveAgents(context, [defineAgent({ name: 'tester', retry: { attempts: 1 }, model })])
    const agent = await serving.connect().spawn('tester', { id: 't' })
    const provenance = { type: 'note', kind: 'program' } as const
    await agent.prompt('Remember that I said so', { provenance }).result
    const idle = async (): Promise<void> => {
      while ((await agent.snapshot()).state !== 'idle') await quiet()
    }
    const said = async () => {
      await idle()
      const { nodes } = await agent.conversation()
      return nodes.flatMap(({ message }) => (message.role === 'user' ? [message.provenance] : []))
    }
    isBad = false
    await retry(agent)
    assert.equal(await said(), [provenance])
    await retry(agent)
    assert.equal(await said(), [provenance, provenance])
  })
})
