import { cp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import { defineAgent, type AgentOptions } from '../../src/actors/define/defineAgent.ts'
import { defineTool } from '../../src/actors/tools/defineTool.ts'
import { createRuntime } from '../../packages/bridge/src/createRuntime.ts'
import { textOf, type ToolResultMessage } from '../../src/protocol/messages.ts'
import type { RecordOf } from '../../src/protocol/records.ts'
import { fileStore } from '../../packages/stores/src/fileStore.ts'
import { memoryStore } from '../../packages/stores/src/memory/memoryStore.ts'
import { scriptedModel, type ScriptedReply } from '../../packages/evaluation/src/testing/scriptedModel.ts'
import { calls, startAgent, type Harness, type HarnessOptions } from '../support/agentHarness.ts'
import { assert, describe, type CaseContext } from '../support/suite.ts'
import { storeFolder } from '../../packages/stores/test/storeFolder.ts'

const line = (index: number): string => `line ${index}: ${'x'.repeat(40)} needle${index}`
const long = Array.from({ length: 1_000 }, (_, index) => line(index + 1)).join('\n')
const task = { task: 'look' }
const helper = (...replies: ScriptedReply[]) =>
  defineAgent({ name: 'helper', model: scriptedModel(replies.length === 0 ? [long] : replies) })
/** Carried out by a client. */
const ask = defineTool({ name: 'ask', description: 'Asks the page.', input: z.object({}) })

const endsIn = async ({ records }: Pick<Harness, 'records'>): Promise<RecordOf<'tool.end'>[]> =>
  (await records()).filter((record): record is RecordOf<'tool.end'> => record.type === 'tool.end')
const keptOf = async ({ store }: Pick<Harness, 'store'>, { artifacts }: ToolResultMessage): Promise<string> =>
  new TextDecoder().decode(await store.snapshots!.get('a1', artifacts![0]!.id))

describe('the long answer of a sub-agent', (it) => {
  it('is kept whole: the model sees its ends, and reads on', async (context) => {
    const more: ScriptedReply[] = [calls('a', ['helper', task]), 'done']
    const harness = await startAgent(context, { artifacts: { overChars: 1_000 }, agents: [helper()], replies: more })
    await harness.agent.prompt('go').result
    const [{ message, spent }] = (await endsIn(harness)) as [RecordOf<'tool.end'>]
    assert.is(await keptOf(harness, message), long)
    const text = textOf(message.content)
    assert.ok(text.length <= 1_000, `${text.length}`)
    assert.match(text, /^line 1: [^]*needle1000\[?\n?[^]*all of it is kept, 1000 lines/)
    assert.ok(spent!.turns === 1)
    const [id] = /artifact_[0-9a-f]{12}/.exec(text)!
    more.push(calls('r', ['read_artifact', { id, query: 'needle555', lines: 1 }]), 'done')
    await harness.agent.prompt('read on').result
    assert.match(JSON.stringify(harness.script.requests.at(-1)!.messages.at(-1)), line(555))
  })

  it('is whole where an answer is cut anyway, also of one that did not finish and can be continued', async (context) => {
    const most = defineAgent({
      name: 'helper',
      model: scriptedModel([{ text: long, stopReason: 'length' }]),
    })
    const harness = await startAgent(context, {
      artifacts: true,
      agents: [{ definition: most, continuable: true }],
      replies: [calls('a', ['helper', task]), 'done'],
    })
    await harness.agent.prompt('go').result
    const [{ message }] = (await endsIn(harness)) as [RecordOf<'tool.end'>]
    const kept = await keptOf(harness, message)
    assert.is(message.isError, true)
    assert.match(kept, /^The agent "helper" did not finish/)
    assert.ok(kept.includes(long) && !kept.includes('left out'))
    assert.match(kept, /This was a1\.1: give its id[^]*$/)
    assert.match(textOf(message.content), /characters left out[^]*This was a1\.1/)
  })

  it('is as before where it is short, or the agent has no artifacts', async (context) => {
    for (const artifacts of [false, true]) {
      const harness = await startAgent(context, {
        artifacts,
        id: 'a1',
        agents: [helper(artifacts ? 'x'.repeat(30_000) : 'y'.repeat(40_000))],
        replies: [calls('a', ['helper', task]), 'done'],
      })
      await harness.agent.prompt('go').result
      const [{ message }] = (await endsIn(harness)) as [RecordOf<'tool.end'>]
      assert.equal([message.artifacts, textOf(message.content).length <= 30_000], [undefined, true])
      assert.not.match(JSON.stringify(await harness.records()), '"whole"')
    }
  })

  it('is not kept where a hook withheld it, and holds no secret', async (context) => {
    const secret = 's3cr3t-token-0123456789'
    for (const isWithheld of [true, false]) {
      const puts: string[] = []
      const store = memoryStore()
      const { put } = store.snapshots!
      Object.assign(store.snapshots!, {
        put: (agentId: string, bytes: Uint8Array) => {
          puts.push(new TextDecoder().decode(bytes))
          return put.call(store.snapshots, agentId, bytes)
        },
      })
      const harness = await startAgent(context, {
        store,
        artifacts: true,
        redact: { secrets: { TOKEN: secret } },
        agents: [helper(`${long} ${secret} ${long}`)],
        afterTool: () => (isWithheld ? { result: 'not for you' } : undefined),
        replies: [calls('a', ['helper', task]), 'done'],
      })
      await harness.agent.prompt('go').result
      assert.is(puts.length, isWithheld ? 0 : 1)
      assert.not.match(puts.join('') + JSON.stringify(await harness.records()), secret)
      const [{ message }] = (await endsIn(harness)) as [RecordOf<'tool.end'>]
      if (isWithheld) assert.equal([textOf(message.content), message.artifacts], ['not for you', undefined])
      else assert.match(puts[0]!, '[redacted:TOKEN]')
    }
  })

  it('of reports that were waited for is kept, and none of them is said again', async (context) => {
    const report = long.slice(0, 20_000)
    const harness = await startAgent(context, {
      artifacts: { overChars: 1_000 },
      agents: [{ definition: helper(report), detach: 'report' }],
      replies: [calls('a', ['helper', task]), calls('w', 'wait_for'), 'done'],
    })
    await harness.agent.prompt('go').result
    const { message, delivers } = (await endsIn(harness)).at(-1)!
    assert.equal(delivers, ['a1/t0/tool/a0/report'])
    assert.is(await keptOf(harness, message), `Report of a1.1, the agent "helper" that you called:\n\n${report}`)
    assert.is(message.artifacts![0]!.mimeType, 'text/plain')
    assert.is(harness.ofType('message.added').length, 1)
  })
})

describe('the large result that a client returns', (it) => {
  const start = (context: CaseContext, options: HarnessOptions = {}) =>
    startAgent(context, {
      artifacts: { overChars: 1_000 },
      tools: [ask],
      replies: [calls('c', 'ask'), 'done'],
      ...options,
    })

  it('is kept whole as it was given, without secrets', async (context) => {
    const secret = 's3cr3t-token-0123456789'
    const harness = await start(context, { redact: { secrets: { TOKEN: secret } } })
    const run = harness.agent.prompt('go')
    await harness.untilState('paused')
    const rows = Array.from({ length: 300 }, (_, id) => ({ id, key: secret }))
    harness.agent.decide('c0', { result: rows })
    rows.length = 0
    assert.is((await run.result).text, 'done')
    const [{ message, returned }] = (await endsIn(harness)) as [RecordOf<'tool.end'>]
    const kept = JSON.parse(await keptOf(harness, message)) as unknown
    assert.equal(
      kept,
      Array.from({ length: 300 }, (_, id) => ({ id, key: '[redacted:TOKEN]' })),
    )
    assert.equal([returned, message.artifacts![0]!.mimeType], [{}, 'application/json'])
    assert.match(textOf(message.content), /^\[\n \{[^]*all of it is kept/)
    assert.ok(textOf(message.content).length <= 1_000)
  })

  it('is reviewed by the hook first, and not kept if that replaces it', async (context) => {
    const seen: string[] = []
    const harness = await start(context, {
      afterTool: (_, { content }) => {
        seen.push(textOf(content))
        return { result: 'replaced' }
      },
    })
    const run = harness.agent.prompt('go')
    await harness.untilState('paused')
    harness.agent.decide('c0', { result: long })
    await run.result
    const [{ message }] = (await endsIn(harness)) as [RecordOf<'tool.end'>]
    assert.equal([textOf(message.content), message.artifacts], ['replaced', undefined])
    assert.match(seen[0]!, 'all of it is kept')
  })

  it('is as before where it is small', async (context) => {
    const harness = await start(context)
    const run = harness.agent.prompt('go')
    await harness.untilState('paused')
    harness.agent.decide('c0', { result: 'here' })
    await run.result
    const [{ message }] = (await endsIn(harness)) as [RecordOf<'tool.end'>]
    assert.equal([textOf(message.content), message.artifacts], ['here', undefined])
  })
})

describe('a crash between what is kept and its record', (it) => {
  /** Runs until the answer is kept, and goes on from what was on the disk then. */
  async function crashed(
    context: CaseContext,
    options: Partial<AgentOptions>,
    give?: (agent: Harness['agent']) => void,
  ) {
    const { dir } = await storeFolder(context)
    const left = `${dir}-left`
    const store = fileStore(dir)
    const { promise: isPut, resolve: put } = Promise.withResolvers<void>()
    const keep = store.snapshots!.put.bind(store.snapshots)
    store.snapshots!.put = async (agentId, bytes) => {
      await keep(agentId, bytes)
      put()
      // What comes after it never happens.
      return new Promise<string>(() => {})
    }
    const define = (replies: ScriptedReply[], model = scriptedModel(replies)) =>
      [defineAgent({ name: 'asker', artifacts: true, ...options, model }), model] as const
    const dying = await createRuntime({ store })
    const call = options.agents === undefined ? calls('a', 'ask') : calls('a', ['helper', task])
    const agent = await dying.spawn(define([call])[0], { id: 'a1' })
    agent.subscribe((event) => {
      if (event.type === 'call.requested') queueMicrotask(() => give?.(agent))
    })
    agent.prompt('go').result.catch(() => {})
    await isPut
    await cp(dir, left, { recursive: true })
    context.cleanup(() => rm(left, { recursive: true, force: true }))
    await dying.close()
    for (const id of ['a1', 'a1.1']) await rm(join(left, `${id}.lock`), { force: true })
    const [definition, model] = define(['done'])
    const runtime = await createRuntime({ store: fileStore(left) })
    context.cleanup(() => runtime.close())
    return { agent: await runtime.resume('a1', definition), model, store: fileStore(left) }
  }

  const ended = (agent: Harness['agent']): Promise<void> =>
    new Promise((resolve) => {
      agent.subscribe((event) => event.type === 'run.end' && resolve())
      if (agent.state === 'idle') resolve()
    })

  it('has the answer of the sub-agent read from its log, and kept again', { timeoutMs: 20_000 }, async (context) => {
    // It answers once: it is not asked again.
    const { agent, model, store } = await crashed(context, { agents: [helper()] })
    await ended(agent)
    const said = JSON.stringify(model.requests.at(-1)!.messages.at(-1))
    const [id] = /artifact_[0-9a-f]{12}/.exec(said)!
    const names: string[] = []
    for await (const record of store.read('a1'))
      if (record.type === 'tool.end') names.push(...(record.message.artifacts ?? []).map((one) => one.id))
    assert.is(names.length, 1)
    assert.ok(names[0]!.startsWith(id.slice('artifact_'.length)))
    assert.is(new TextDecoder().decode(await store.snapshots!.get('a1', names[0]!)), long)
  })

  it('has the client asked again', { timeoutMs: 20_000 }, async (context) => {
    const { agent, model } = await crashed(context, { tools: [ask] }, (one) => one.decide('a0', { result: long }))
    assert.equal(
      agent.pending().map(({ kind, callId }) => [kind, callId]),
      [['call', 'a0']],
    )
    agent.decide('a0', { result: 'short' })
    await ended(agent)
    assert.match(JSON.stringify(model.requests.at(-1)!.messages.at(-1)), 'short')
  })
})
